//! What a provider answers, read by look-ups of every kind.

use super::texts::must;
use std::sync::LazyLock;
use unstuck::adapters::http::extract::Reply;
use unstuck::adapters::http::paging::{After, Reading};
use unstuck::domain::evidence::Effect;
use unstuck::preset::provider::{How, LookUp, ProviderPreset};
use unstuck::preset::template::Fields;

const PRESET: &str = include_str!("../../fixtures/corpus/provider_presets/paging.toml");

static LOOK_UPS: LazyLock<Vec<(String, LookUp)>> = LazyLock::new(|| {
    let preset = ProviderPreset::parse(PRESET).unwrap();
    let asked = preset.operations.into_iter().filter_map(|(name, operation)| match operation.how {
        How::Ask(look) => Some((name, *look)),
        How::Sql(_) | How::Unanswerable(_) => None,
    });
    asked.collect()
});

/// What an answer of one page comes to: its effects where that is all, and where to go on else.
fn come_to(look: &LookUp, body: &[u8]) -> Result<(After, Vec<Effect>), String> {
    let vars = Fields::new();
    let mut reading = Reading::new(look, "r-1", &vars, 20);
    let reply = Reply { status: 200, headers: Vec::new(), body: body.to_vec() };
    let after = reading.take(&reply).map_err(|fault| fault.detail)?;
    Ok((after, reading.into_effects().map_err(|fault| fault.detail)?))
}

/// Cut off anywhere, an answer is none: no effect may go missing, and no absence come about.
pub fn a_part_of_an_answer_is_never_an_answer(input: &[u8]) -> Result<(), String> {
    for (name, look) in LOOK_UPS.iter() {
        let whole = match come_to(look, input) {
            Ok(whole) => whole,
            Err(sentence) => {
                must(!sentence.is_empty() && sentence.len() < 2_000, || {
                    format!("{name}: told as {sentence:?}")
                })?;
                continue;
            }
        };
        let (_, effects) = &whole;
        must(effects.iter().all(|effect| !effect.id.is_empty()), || {
            format!("{name}: an effect without an id")
        })?;
        let spaced = [b" \n".as_slice(), input, b"\r\n\t"].concat();
        // A byte order mark stands only at the very beginning.
        if !input.starts_with(b"\xef\xbb\xbf") {
            must(come_to(look, &spaced).as_ref() == Ok(&whole), || {
                format!("{name}: another with space around it")
            })?;
        }
        let end = input.trim_ascii_end().len();
        for at in (0..end).rev().step_by(1 + end / 40) {
            let part = come_to(look, &input[..at]);
            must(part.is_err(), || format!("{name}: its first {at} bytes are an answer too: {part:?}"))?;
        }
    }
    Ok(())
}
