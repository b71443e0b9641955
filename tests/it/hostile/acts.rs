//! What a hostile provider may do, to be put together into cases.

use super::server::{Act, Asked, answer, says, tells};

pub const EMPTY: &str = r#"{"data":[],"has_more":false}"#;
/// As much as the program reads of one answer, and a little less.
pub const NEARLY_4_MIB: usize = 4 * 1024 * 1024 - 1000;

pub fn ok(body: impl AsRef<[u8]>) -> Act {
    says(answer("200 OK", "Content-Type: application/json\r\n", body))
}

pub fn status(line: &str) -> Act {
    says(answer(line, "", EMPTY))
}

pub fn redirect(to: &str) -> Act {
    says(answer("302 Found", &format!("Location: {to}\r\n"), EMPTY))
}

/// A good answer whose effects are made for each request.
pub fn list(effects: impl Fn(&Asked) -> String + Send + Sync + 'static, more: bool) -> Act {
    tells(move |asked| answer("200 OK", "", format!(r#"{{"data":[{}],"has_more":{more}}}"#, effects(asked))))
}

/// An answer with one effect of ours that has these further fields.
pub fn ours(fields: impl Into<String>) -> Act {
    let fields = fields.into();
    list(move |asked| format!(r#"{{"reference":"{}",{fields}}}"#, asked.query("reference")), false)
}

/// Some four megabytes of a piece, as the items of a list.
pub fn filled_with(piece: &str) -> Act {
    let items = vec![piece; NEARLY_4_MIB / (piece.len() + 1)].join(",");
    ok(format!(r#"{{"data":[{items}],"has_more":false}}"#))
}

/// Hundreds of megabytes of one letter, as deflate writes them: one literal, then repeats of 258, in the fixed code.
pub fn deflate_bomb() -> Vec<u8> {
    /// A final block in the fixed code; the letter `a`; the bits of "258 again, from one before" follow.
    const BEGIN: &str = "110" /* final, fixed */;
    const LETTER: &str = "10010001";
    const AGAIN: &str = "1100010100000";
    let bits =
        BEGIN.chars().chain(LETTER.chars()).chain(AGAIN.chars().cycle()).take(8 * (NEARLY_4_MIB - 100));
    let (mut bytes, mut byte, mut count) = (Vec::with_capacity(NEARLY_4_MIB), 0_u8, 0);
    for bit in bits {
        byte |= u8::from(bit == '1') << count;
        count += 1;
        if count == 8 {
            bytes.push(byte);
            (byte, count) = (0, 0);
        }
    }
    bytes
}

pub fn packed(encoding: &str, head: &[u8]) -> Act {
    says(answer("200 OK", &format!("Content-Encoding: {encoding}\r\n"), [head, &deflate_bomb()].concat()))
}

/// Two whole answers to one question, on a connection that stays open.
pub fn two_answers(first: Vec<u8>, second: Vec<u8>) -> Act {
    tells(move |_| [first.as_slice(), second.as_slice()].concat())
}
