//! Requests that are signed as AWS wants it (Signature Version 4), and the credentials that sign them. Pure.
//!
//! The steps are those of AWS's pages on creating a signed request; its published test vectors are in `sigv4/tests.rs`.

use crate::domain::cell::hex;
use chrono::{DateTime, TimeDelta, Utc};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::fmt;
use url::Url;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// How much earlier than they end credentials are given up: a request takes its time to arrive.
const MARGIN: TimeDelta = TimeDelta::minutes(1);
/// The region of addresses that name none: AWS's first, and what stores that copy S3 take for their own.
const REGION_USUAL: &str = "us-east-1";

/// Who signs.
#[derive(Clone)]
pub struct Credentials {
    /// The name of the key; no secret.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: SecretString,
    /// What goes with a key that was given for a while; `None` for one that stays.
    pub session_token: Option<SecretString>,
    /// When they end; `None` where nobody says.
    pub expires_at: Option<DateTime<Utc>>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.access_key_id)
    }
}

/// Credentials as AWS's own tools print them.
#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<DateTime<Utc>>,
}

impl Credentials {
    /// Reads a secret: `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, with `:SESSION_TOKEN` behind it where there is one, or the JSON that
    /// `aws configure export-credentials` prints.
    ///
    /// # Errors
    /// A sentence without any part of the secret.
    pub fn parse(secret: &str) -> Result<Self, String> {
        let credentials = if secret.trim_start().starts_with('{') {
            let printed: Printed = serde_json::from_str(secret)
                .map_err(|_| "the secret is no JSON with AccessKeyId and SecretAccessKey".to_owned())?;
            Self {
                access_key_id: printed.access_key_id,
                secret_access_key: printed.secret_access_key.into(),
                session_token: printed.session_token.filter(|token| !token.is_empty()).map(Into::into),
                expires_at: printed.expiration,
            }
        } else {
            let mut parts = secret.splitn(3, ':');
            let mut part = || parts.next().unwrap_or_default().to_owned();
            let (access_key_id, key, token) = (part(), part(), part());
            Self {
                access_key_id,
                secret_access_key: key.into(),
                session_token: (!token.is_empty()).then(|| token.into()),
                expires_at: None,
            }
        };
        // Stores that copy S3 take other names than AWS; what parts a scope is in none.
        let is_name = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/,=".contains(&byte))
        };
        if !is_name(&credentials.access_key_id) || credentials.secret_access_key.expose_secret().is_empty() {
            return Err(
                "the secret must be written ACCESS_KEY_ID:SECRET_ACCESS_KEY, :SESSION_TOKEN behind it where there is one"
                    .to_owned(),
            );
        }
        Ok(credentials)
    }

    /// Whether they end before a request would have arrived.
    pub fn have_ended(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|end| end <= now + MARGIN)
    }
}

/// What is signed: a request as it will be sent.
#[derive(Debug, Clone, Copy)]
pub struct Unsigned<'request> {
    /// The method.
    pub method: &'request str,
    /// The address.
    pub url: &'request Url,
    /// Headers to sign beside the host, the date and the token: small names, and each once.
    pub headers: &'request [(&'request str, &'request str)],
    /// The body's SHA-256 in hexadecimal digits.
    pub body_sha256: &'request str,
    /// Whether the path is encoded a second time for the signature, as all services but S3 do it.
    pub is_path_encoded_twice: bool,
}

/// The date as the signature's header spells it.
pub fn date_header(at: DateTime<Utc>) -> String {
    at.format("%Y%m%dT%H%M%SZ").to_string()
}

/// The `Authorization` of a request.
pub fn authorization(
    request: &Unsigned<'_>,
    credentials: &Credentials,
    (region, service): (&str, &str),
    at: DateTime<Utc>,
) -> String {
    let date = date_header(at);
    let day = date.get(..8).unwrap_or_default();
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let (canonical, names) = canonical(request, credentials, &date);
    let to_sign = format!("{ALGORITHM}\n{date}\n{scope}\n{}", hex(&Sha256::digest(canonical.as_bytes())));
    let first = format!("AWS4{}", credentials.secret_access_key.expose_secret());
    let key = [day, region, service, "aws4_request"]
        .into_iter()
        .fold(first.into_bytes(), |key, part| mac(&key, part));
    let signature = hex(&mac(&key, &to_sign));
    let who = &credentials.access_key_id;
    format!("{ALGORITHM} Credential={who}/{scope}, SignedHeaders={names}, Signature={signature}")
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// The request in the one spelling that both sides hash, and the names of the headers in it.
fn canonical(request: &Unsigned<'_>, credentials: &Credentials, date: &str) -> (String, String) {
    let host = host(request.url);
    let mut headers: Vec<(&str, String)> =
        request.headers.iter().map(|(name, value)| (*name, trimmed(value))).collect();
    headers.push(("host", host));
    headers.push(("x-amz-date", date.to_owned()));
    if let Some(token) = &credentials.session_token {
        headers.push(("x-amz-security-token", token.expose_secret().to_owned()));
    }
    headers.sort();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let lines = lines.concat();
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{}",
        request.method,
        path(request.url, request.is_path_encoded_twice),
        query(request.url),
        request.body_sha256
    );
    (canonical, names)
}

/// The host as it is sent: with its port where that is not the usual one.
fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// A header's value without outer spaces, and with one for several within.
fn trimmed(value: &str) -> String {
    value.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The path in the one spelling that is signed. It is sent so too: some servers sign what came, some what it means.
pub fn path_as_signed(url: &Url) -> String {
    encoded(&percent_decoded(url.path()), true)
}

fn path(url: &Url, is_encoded_twice: bool) -> String {
    let once = path_as_signed(url);
    if is_encoded_twice { encoded(once.as_bytes(), true) } else { once }
}

/// Names and values encoded, then sorted.
fn query(url: &Url) -> String {
    let encode = |text: &str| encoded(text.as_bytes(), false);
    let mut pairs: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (encode(&name), encode(&value))).collect();
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Every byte but letters, digits and four signs as `%XX`; a slash too, except in a path.
fn encoded(bytes: &[u8], keeps_slashes: bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            b'/' if keeps_slashes => text.push('/'),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let is_code = |digits: &&str| *byte == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let code = text.get(at + 1..at + 3).filter(is_code);
        if let Some(code) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            decoded.push(code);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    decoded
}

/// The region that an address of AWS names (`s3.eu-west-1.amazonaws.com`); the usual one where it names none.
pub fn region_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let of_aws = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"));
    let last = of_aws.and_then(|own| own.rsplit('.').next());
    // Every region's name has a place and a number: `s3` alone is the one of all.
    let is_region =
        |text: &&str| text.matches('-').count() >= 2 && text.ends_with(|last: char| last.is_ascii_digit());
    let old = last.and_then(|last| last.strip_prefix("s3-"));
    old.filter(is_region).or(last.filter(is_region)).unwrap_or(REGION_USUAL).to_owned()
}

#[cfg(test)]
mod tests;
