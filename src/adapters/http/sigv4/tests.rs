//! The vectors that AWS publishes: its `SigV4` test suite (`aws-c-auth`, `tests/aws-signing-test-suite/v4`), and the examples of the
//! S3 reference ("Authenticating Requests: Using the Authorization Header").

use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn suite(token: Option<&str>) -> Credentials {
    Credentials {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned().into(),
        session_token: token.map(|token| token.to_owned().into()),
        expires_at: None,
    }
}

#[rstest]
#[case::get_vanilla("GET", "/", &[], None, "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")]
#[case::post_vanilla("POST", "/", &[], None, "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")]
#[case::query_order("GET", "/?Param2=value2&Param1=value1", &[], None, "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")]
#[case::query_unreserved(
    "GET",
    "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    &[],
    None,
    "host;x-amz-date",
    "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"
)]
#[case::utf8_query("GET", "/?ሴ=bar", &[], None, "host;x-amz-date", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04")]
#[case::utf8_path("GET", "/ሴ", &[], None, "host;x-amz-date", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85")]
#[case::space_in_path("GET", "/example space/", &[], None, "host;x-amz-date", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741")]
#[case::header_trim(
    "GET",
    "/",
    &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
    None,
    "host;my-header1;my-header2;x-amz-date",
    "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
)]
#[case::session_token(
    "GET",
    "/",
    &[],
    Some("6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"),
    "host;x-amz-date;x-amz-security-token",
    "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"
)]
fn the_test_suite_of_aws(
    #[case] method: &str,
    #[case] target: &str,
    #[case] headers: &[(&str, &str)],
    #[case] token: Option<&str>,
    #[case] signed: &str,
    #[case] signature: &str,
) {
    let url: Url = format!("https://example.amazonaws.com{target}").parse().unwrap();
    let request = Unsigned { method, url: &url, headers, body_sha256: EMPTY, is_path_encoded_twice: false };
    let at = "2015-08-30T12:36:00Z".parse().unwrap();
    let told = authorization(&request, &suite(token), ("us-east-1", "service"), at);
    let scope = "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request";
    assert_eq!(
        told,
        format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={signed}, Signature={signature}")
    );
}

#[rstest]
#[case::get_object("GET", "/test.txt", &[("range", "bytes=0-9")], EMPTY, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")]
#[case::put_object(
    "PUT",
    "/test%24file.text",
    &[("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
)]
#[case::lifecycle("GET", "/?lifecycle", &[], EMPTY, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")]
#[case::list("GET", "/?max-keys=2&prefix=J", &[], EMPTY, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")]
fn the_examples_of_the_s3_reference(
    #[case] method: &str,
    #[case] target: &str,
    #[case] headers: &[(&str, &str)],
    #[case] body_sha256: &str,
    #[case] signature: &str,
) {
    let credentials =
        Credentials::parse("AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY").unwrap();
    let url: Url = format!("https://examplebucket.s3.amazonaws.com{target}").parse().unwrap();
    let headers: Vec<(&str, &str)> =
        headers.iter().copied().chain([("x-amz-content-sha256", body_sha256)]).collect();
    let request =
        Unsigned { method, url: &url, headers: &headers, body_sha256, is_path_encoded_twice: false };
    let at = "2013-05-24T00:00:00Z".parse().unwrap();
    let told = authorization(&request, &credentials, ("us-east-1", "s3"), at);
    assert!(told.ends_with(&format!("Signature={signature}")), "{told}");
}

#[test]
fn a_path_is_encoded_once_for_s3_and_twice_for_others() {
    let url: Url = "http://localhost:9000/b/a%20b+c*d/%C3%BC%2Fx".parse().unwrap();
    assert_eq!(path(&url, false), "/b/a%20b%2Bc%2Ad/%C3%BC/x");
    assert_eq!(path(&url, true), "/b/a%2520b%252Bc%252Ad/%25C3%25BC/x");
    assert_eq!(host(&url), "localhost:9000");
}

#[rstest]
#[case::of_the_region("https://s3.eu-west-1.amazonaws.com", "eu-west-1")]
#[case::of_the_bucket("https://exports.s3.us-gov-west-1.amazonaws.com", "us-gov-west-1")]
#[case::dual_stack("https://exports.s3.dualstack.ap-southeast-2.amazonaws.com", "ap-southeast-2")]
#[case::old("https://exports.s3-eu-west-1.amazonaws.com", "eu-west-1")]
#[case::china("https://s3.cn-north-1.amazonaws.com.cn", "cn-north-1")]
#[case::of_all("https://s3.amazonaws.com", "us-east-1")]
#[case::another_store("http://minio.internal:9000", "us-east-1")]
fn the_region_is_in_the_address(#[case] url: &str, #[case] region: &str) {
    assert_eq!(region_of(&url.parse().unwrap()), region);
}

#[test]
fn credentials_are_read_in_both_spellings_and_printed_in_none() {
    let lasting = Credentials::parse("AKID7:se/cr+et").unwrap();
    assert!(lasting.session_token.is_none());
    let with_token = Credentials::parse("AKID7:se/cr+et:to:ken").unwrap();
    assert_eq!(with_token.session_token.as_ref().unwrap().expose_secret(), "to:ken");
    let printed = Credentials::parse(
        r#"{"Version": 1, "AccessKeyId": "AKID7", "SecretAccessKey": "se/cr+et", "SessionToken": "token", "Expiration": "2026-11-30T09:00:00+00:00"}"#,
    )
    .unwrap();
    assert_eq!(printed.secret_access_key.expose_secret(), "se/cr+et");
    let at = |text: &str| text.parse().unwrap();
    assert!(
        !printed.have_ended(at("2026-11-30T08:58:59Z")) && printed.have_ended(at("2026-11-30T08:59:00Z"))
    );
    assert!(!lasting.have_ended(at("2099-01-01T00:00:00Z")));
    assert_eq!(format!("{with_token:?} {printed:?}"), "Credentials(AKID7) Credentials(AKID7)");
    for odd in ["", "AKID7", "AKID7:", ":secret", "a b:secret", "{\"AccessKeyId\": \"s3cr3t\"}"] {
        let told = Credentials::parse(odd).unwrap_err();
        assert!(!told.contains("s3cr3t"), "{told}");
    }
}
