//! Keys that sign checkpoints, and the texts they are kept in. Pure: making and reading a key file is an adapter's business.

use crate::domain::cell::hex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};
use std::fmt;

/// How many bytes a public key has.
const PUBLIC_BYTES: usize = 32;
/// What stands before a public Ed25519 key in its standard form (RFC 8410): any program that knows such keys reads ours.
const PUBLIC_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PUBLIC_LABEL: &str = "PUBLIC KEY";
const PRIVATE_LABEL: &str = "PRIVATE KEY";
/// How many characters a line of a key's text has.
const LINE_CHARS: usize = 64;

/// What signatures are checked with. It is no secret: whoever keeps a copy elsewhere can check without the program's help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; PUBLIC_BYTES]);

impl PublicKey {
    /// The key in a text, whatever stands around it.
    pub fn from_text(text: &str) -> Option<Self> {
        let der = between_marks(PUBLIC_LABEL, text)?;
        Some(Self(der.strip_prefix(&PUBLIC_HEAD)?.try_into().ok()?))
    }

    /// Every key in a text: a file may hold those of several operators, one after the other.
    pub fn all_from_text(text: &str) -> Vec<Self> {
        let begins = format!("-----BEGIN {PUBLIC_LABEL}-----");
        let starts = text.match_indices(&begins).map(|(at, _)| at);
        starts.filter_map(|at| Self::from_text(text.get(at..)?)).collect()
    }

    /// The key as a text that other programs read too.
    pub fn to_text(self) -> String {
        with_marks(PUBLIC_LABEL, &self.der())
    }

    /// A short name of the key that no other key has.
    pub fn fingerprint(self) -> String {
        format!("sha256:{}", hex(&Sha256::digest(self.der())))
    }

    /// Whether this key's other half signed the message.
    pub fn has_signed(self, message: &[u8], signature: &str) -> bool {
        STANDARD
            .decode(signature)
            .is_ok_and(|bytes| UnparsedPublicKey::new(&ED25519, self.0).verify(message, &bytes).is_ok())
    }

    fn der(self) -> Vec<u8> {
        [PUBLIC_HEAD.as_slice(), &self.0].concat()
    }
}

/// What signs. Whoever has it can sign anything, so it is kept away from the audit.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl SigningKey {
    /// The key in the bytes of a PKCS#8 document; `None` where they hold none.
    pub fn from_pkcs8(document: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(document).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Self { pair, public })
    }

    /// The key in a text.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::from_pkcs8(&between_marks(PRIVATE_LABEL, text)?)
    }

    /// The half that checks.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> String {
        STANDARD.encode(self.pair.sign(message))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public.fingerprint()).finish_non_exhaustive()
    }
}

/// The text that a private key's PKCS#8 document is kept in.
pub fn private_text(document: &[u8]) -> String {
    with_marks(PRIVATE_LABEL, document)
}

fn with_marks(label: &str, der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for (at, character) in encoded.chars().enumerate() {
        if at > 0 && at % LINE_CHARS == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push_str(&format!("\n-----END {label}-----\n"));
    text
}

fn between_marks(label: &str, text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (encoded, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let encoded: String = encoded.split_whitespace().collect();
    STANDARD.decode(encoded).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use rstest::rstest;

    /// A key that is the same in every run: a seed as a PKCS#8 document of version 1.
    pub(crate) fn key(seed: u8) -> SigningKey {
        let head =
            [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
        SigningKey::from_pkcs8(&[head.as_slice(), &[seed; 32]].concat()).unwrap()
    }

    #[test]
    fn only_the_other_half_and_only_the_same_message_fit() {
        let (ours, theirs) = (key(1), key(2));
        let signature = ours.sign(b"six entries");
        assert!(ours.public().has_signed(b"six entries", &signature));
        assert!(!ours.public().has_signed(b"six entriez", &signature));
        assert!(!theirs.public().has_signed(b"six entries", &signature));
        for broken in ["", "?", &signature[1..]] {
            assert!(!ours.public().has_signed(b"six entries", broken));
        }
    }

    #[test]
    fn a_public_key_survives_its_text_and_what_stands_around_it() {
        let public = key(1).public();
        let text = format!("fingerprint {}\n{}\n", public.fingerprint(), public.to_text());
        assert_eq!(PublicKey::from_text(&text), Some(public));
        let several = format!("{text}\nben's:\n{}", key(2).public().to_text());
        assert_eq!(PublicKey::all_from_text(&several), [public, key(2).public()]);
        assert_ne!(public.fingerprint(), key(2).public().fingerprint());
        // Part of what people keep elsewhere: it must never change by accident. Of 32 bytes that are all 1.
        let known = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=\n-----END PUBLIC KEY-----\n";
        assert_eq!(public.to_text(), known);
    }

    #[rstest]
    #[case::nothing("")]
    #[case::no_end("-----BEGIN PUBLIC KEY-----\nMCow")]
    #[case::no_base64("-----BEGIN PUBLIC KEY-----\n????\n-----END PUBLIC KEY-----")]
    #[case::another_kind("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQ==\n-----END PUBLIC KEY-----")]
    fn what_is_no_key_is_none(#[case] text: &str) {
        assert_eq!(PublicKey::from_text(text), None);
        assert!(SigningKey::from_text(&text.replace("PUBLIC", "PRIVATE")).is_none());
    }

    #[test]
    fn a_private_key_is_not_shown() {
        let shown = format!("{:?}", key(1));
        assert!(
            shown.contains("sha256:") && !shown.contains("010101") && !shown.contains("[1, 1"),
            "{shown}"
        );
    }
}
