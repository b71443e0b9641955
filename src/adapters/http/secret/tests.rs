use super::*;
use crate::domain::evidence::EffectState;
use std::sync::Arc;

const TOKEN: &str = "plaintoken77x";

fn keeper() -> SecretKeeper {
    let place = Some(SecretPlace::Env("TOKEN".to_owned()));
    let keeper = SecretKeeper::new(place, Arc::new(|_| Some(TOKEN.to_owned())));
    keeper.secret().unwrap();
    keeper
}

fn effect(id: &str) -> Effect {
    Effect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state: EffectState::Happened,
        money: None,
        at: None,
        link: None,
    }
}

#[test]
fn an_effect_leaves_without_the_secret_in_any_of_its_texts() {
    let money = Money::read("12", Some(TOKEN), crate::domain::money::Unit::Major).unwrap();
    let echoed = Effect {
        status: format!("is {TOKEN}"),
        money: Some(money),
        link: Some(format!("https://host/{TOKEN}")),
        ..effect(TOKEN)
    };
    let plain = Effect { link: Some("https://host/ch_1".to_owned()), ..effect("ch_1") };
    let masked = keeper().masked_effects(vec![echoed, plain.clone()]);
    assert_eq!(masked[1], plain);
    assert_eq!(
        (masked[0].id.as_str(), masked[0].status.as_str(), masked[0].link.as_deref()),
        (MASK, "is ••••", None)
    );
    assert_eq!(masked[0].money.as_ref().unwrap().to_string(), "12.00 ••••");
}

#[test]
fn ids_that_masking_makes_one_text_stay_as_many_as_they_were() {
    let ids = ["sk_live_aaaaaaaa", TOKEN, MASK, "sk_live_bbbbbbbb", TOKEN, "ch_1"];
    let masked = keeper().masked_effects(ids.map(effect).to_vec());
    let shown: Vec<&str> = masked.iter().map(|effect| effect.id.as_str()).collect();
    assert_eq!(shown, ["•••• (3)", "•••• (2)", MASK, "•••• (4)", "•••• (2)", "ch_1"]);
}

#[test]
fn a_secret_that_a_text_was_cut_within_is_hidden_too() {
    for end in 4..TOKEN.len() {
        let text = format!("`$.error` is `xx {}…`", &TOKEN[..end]);
        assert_eq!(keeper().masked(&text), "`$.error` is `xx ••••…`");
    }
    assert_eq!(keeper().masked("plain words…"), "plain words…");
}
