//! Every built-in provider preset against answers that follow its provider's published schema, through the real adapter.
//!
//! `tests/fixtures/providers/PRESET/cases.toml` says for each operation what must be asked and what must be read from which
//! answer; `cases.rs` says what it must hold. The values are our own.

mod cases;
pub mod played_back;
mod provider;

use cases::{Case, Cases};
use pretty_assertions::assert_eq;
use provider::{Answer, Asked, Stage, now};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use unstuck::domain::evidence::{Answer as Told, EffectState, FaultKind};
use unstuck::domain::verdict::{Judgement, Verdict};
use unstuck::preset::catalogue::Catalogue;
use unstuck::preset::provider::{
    Absence, How, LookUp, Method, PageEnd, PageStep, ProviderPreset, ReferencePlace,
};

/// Asked by other tests: the lab's provider itself answers them.
const ANSWERED_BY_THE_LAB: &str = "ledger";
/// A status that no provider has.
const UNLISTED: &str = "a_status_that_nobody_listed";

fn presets() -> Vec<ProviderPreset> {
    let catalogue = Catalogue::new(&[]).unwrap();
    let all = catalogue.providers.values().map(|preset| (**preset).clone());
    // Those that read a database are asked by tests with databases.
    all.filter(|preset| &*preset.name != ANSWERED_BY_THE_LAB && !preset.is_sql()).collect()
}

/// Every operation that can be asked, with its case.
fn asked(preset: &ProviderPreset) -> Vec<(&str, &LookUp, Case)> {
    let mut cases = Cases::read(&preset.name);
    let asked = preset.operations.iter().filter_map(|(name, operation)| match &operation.how {
        How::Ask(look) => {
            let case = cases.operations.remove(name);
            Some((
                name.as_str(),
                &**look,
                case.unwrap_or_else(|| panic!("{}.{name} has no case", preset.name)),
            ))
        }
        How::Sql(_) | How::Unanswerable(_) => None,
    });
    let asked = asked.collect();
    assert_eq!(cases.operations.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "cases of no operation");
    asked
}

#[test]
fn there_are_presets_and_each_says_where_its_facts_are_from() {
    let presets = presets();
    assert!(presets.len() >= 27, "{}", presets.len());
    for preset in presets {
        let name = &preset.name;
        assert_eq!(preset.verified_on.map(|day| day.to_string()).as_deref(), Some("2026-11-30"), "{name}");
        assert!(preset.source.as_ref().is_some_and(|source| source.len() > 10), "{name}");
        assert!(preset.base_url.as_ref().is_none_or(|url| url.scheme() == "https"), "{name}");
        for (operation, how) in &preset.operations {
            if let How::Unanswerable(why) = &how.how {
                assert!(why.len() > 60, "{name}.{operation} says why, and where to look instead");
            }
        }
    }
}

/// Every status, absence, pages, an error inside a 200 and a currency without decimals have an answer each.
#[test]
fn every_operation_has_answers_for_everything_that_its_preset_says() {
    for preset in presets() {
        for (operation, look, case) in asked(&preset) {
            let at = format!("{}.{operation}", preset.name);
            let of = |state| {
                let listed = look.statuses.iter().filter(|(_, listed)| **listed == state);
                listed.map(|(status, _)| status.clone()).collect::<BTreeSet<_>>()
            };
            assert_eq!(of(EffectState::Happened), case.happened, "{at} happened");
            assert_eq!(of(EffectState::Pending), case.pending, "{at} pending");
            assert_eq!(of(EffectState::Failed), case.failed, "{at} failed");
            let is_fixed = matches!(look.effects.status, unstuck::preset::provider::StatusPlace::Fixed(_));
            assert_eq!(case.status_at.is_empty(), is_fixed, "{at} status_at");
            let pages = if look.paging.step == PageStep::Single { 0 } else { 3 };
            assert_eq!((case.pages.len(), case.requests.len()), (pages, pages.max(1)), "{at} pages");
            assert_eq!(look.success.is_empty(), case.error.is_none(), "{at} error inside a 200");
            let has_body = look.request.method != Method::Head;
            assert_eq!(case.refused.is_some(), has_body && case.error.is_none(), "{at} refused");
            let has_money = look.effects.amount.is_some();
            let told = [case.zero_decimal.is_some(), case.no_zero_decimal.is_some()];
            let expected = usize::from(has_money);
            assert_eq!(told.iter().filter(|told| **told).count(), expected, "{at} zero-decimal money");
            let is_listed = preset.operations[operation].listing.is_some();
            assert_eq!(case.listing.is_some(), is_listed, "{at} listing");
            assert_eq!(case.confirm.is_some(), look.confirm.is_some(), "{at} confirm");
            let expects_unknown = look.absence == Absence::Never;
            assert_eq!(case.absent_verdict == "unknown", expects_unknown, "{at} absent_verdict");
        }
    }
}

#[tokio::test]
async fn every_operation_asks_and_reads_as_its_provider_documents() {
    for preset in presets() {
        let variables = Cases::read(&preset.name).variables;
        for (operation, look, case) in asked(&preset) {
            let at = format!("{}.{operation}", preset.name);
            let stage = Stage::new(&preset, operation, &variables).await;
            let test = Test { at, stage, look, case, folder: preset.name.to_string() };
            test.one().await;
            test.statuses().await;
            test.absent().await;
            test.somebody_elses().await;
            test.error().await;
            test.refused().await;
            test.unforeseen_error().await;
            test.zero_decimal().await;
            test.pages().await;
            test.listing().await;
        }
    }
}

struct Test<'preset> {
    at: String,
    stage: Stage,
    look: &'preset LookUp,
    case: Case,
    folder: String,
}

impl Test<'_> {
    fn file(&self, name: &str) -> Value {
        cases::json(&self.folder, name)
    }

    fn answer(&self, document: Value) -> Answer {
        Answer {
            status: 200,
            headers: BTreeMap::new(),
            is_head: self.look.request.method == Method::Head,
            document,
        }
    }

    /// One page as a whole answer: with an empty one behind it where only that is the last.
    fn whole(&self, document: Value) -> Vec<Answer> {
        let mut answers = vec![self.answer(document)];
        if self.look.paging.end == PageEnd::EmptyPage {
            answers.push(self.answer(self.file(&self.case.absent)));
        }
        answers
    }

    /// What the one effect of a case amounts to, asked for with the case's own reference.
    async fn judged(&self, answers: Vec<Answer>) -> (Told, Judgement, Vec<Asked>) {
        self.stage.ask(&self.case.reference, &self.case.fields, answers).await
    }

    async fn one(&self) {
        let (told, judgement, asked) = self.judged(self.whole(self.file(&self.case.one))).await;
        assert_eq!(shown(&told), Ok(vec![self.case.effect.clone()]), "{}", self.at);
        let status = &judgement.effects[0].status;
        assert_eq!(judgement.verdict, self.verdict_of(status), "{}", self.at);
        self.assert_asked(&asked[..1], &self.case.requests[..1]);
    }

    async fn statuses(&self) {
        if self.case.status_at.is_empty() {
            return;
        }
        let all = [&self.case.happened, &self.case.pending, &self.case.failed].into_iter().flatten();
        for status in all.map(String::as_str).chain([UNLISTED]) {
            let mut document = self.file(&self.case.one);
            for pointer in &self.case.status_at {
                cases::set(&mut document, pointer, status_value(status));
            }
            let (_, judgement, _) = self.judged(self.whole(document)).await;
            let expected = self.verdict_of(status);
            assert_eq!(judgement.verdict, expected, "{} `{status}`: {:?}", self.at, judgement.reasons);
            assert_eq!(judgement.effects.len(), 1, "{} `{status}`: {:?}", self.at, judgement.reasons);
        }
    }

    async fn absent(&self) {
        let status = self.case.absent_status.unwrap_or(200);
        let answer = Answer { status, ..self.answer(self.file(&self.case.absent)) };
        let mut answers = vec![answer];
        if let Some(confirm) = &self.case.confirm {
            // Beside nothing else that is there either, it is no absence.
            let (_, judgement, asked) = self.judged(answers.clone()).await;
            assert_eq!(judgement.verdict, Verdict::Unknown, "{}: {:?}", self.at, judgement.reasons);
            assert_eq!((asked.len(), &asked[1].line), (2, confirm), "{}", self.at);
            answers.push(Answer { status: 200, ..answers[0].clone() });
        }
        let (_, judgement, _) = self.judged(answers).await;
        assert_eq!(
            judgement.verdict.as_str(),
            self.case.absent_verdict,
            "{}: {:?}",
            self.at,
            judgement.reasons
        );
    }

    /// The same answer to another question: what a server says that ignores filters.
    async fn somebody_elses(&self) {
        if self.look.effects.reference == ReferencePlace::InAddress {
            return;
        }
        let answers = self.whole(self.file(&self.case.one));
        let (_, judgement, _) = self.stage.ask("nobodys-4711", &self.case.fields, answers).await;
        let is_at_own_address =
            matches!(self.look.effects.items, unstuck::preset::provider::ItemsPlace::One(_));
        let expected = if is_at_own_address { Verdict::Unknown } else { Verdict::NotFound };
        assert_eq!(judgement.verdict, expected, "{}: {:?}", self.at, judgement.reasons);
    }

    async fn error(&self) {
        let Some(error) = &self.case.error else { return };
        let (told, judgement, _) = self.judged(vec![self.answer(self.file(error))]).await;
        assert_eq!(judgement.verdict, Verdict::Unknown, "{}", self.at);
        assert_eq!(shown(&told), Err(FaultKind::ErrorInAnswer), "{}: {:?}", self.at, judgement.reasons);
    }

    /// The provider's own error is no absence either where its status got lost on the way.
    async fn refused(&self) {
        let Some(refused) = &self.case.refused else { return };
        let answer = self.answer(self.file(refused));
        let (_, judgement, _) = self.judged(vec![answer.clone(), answer]).await;
        assert_eq!(judgement.verdict, Verdict::Unknown, "{}: {:?}", self.at, judgement.reasons);
        assert_eq!(judgement.effects, [], "{}", self.at);
    }

    /// An error inside a 200 that the preset does not look for is no absence all the same.
    async fn unforeseen_error(&self) {
        if self.look.request.method == Method::Head || self.case.absent_status.is_some() {
            return;
        }
        let absent = self.file(&self.case.absent);
        let mut document = if absent.is_object() { absent } else { serde_json::json!({}) };
        document["errors"] = serde_json::json!([{ "message": "internal error" }]);
        let (_, judgement, _) = self.judged(vec![self.answer(document)]).await;
        assert_eq!(judgement.verdict, Verdict::Unknown, "{}: {:?}", self.at, judgement.reasons);
    }

    async fn zero_decimal(&self) {
        let Some(zero) = &self.case.zero_decimal else { return };
        let mut document = self.file(&self.case.one);
        for (pointer, value) in &zero.set {
            cases::set(&mut document, pointer, value.clone());
        }
        let (_, judgement, _) = self.judged(self.whole(document)).await;
        let money = judgement.effects[0].money.as_ref().unwrap().to_string();
        assert_eq!(money, zero.money, "{}", self.at);
    }

    async fn pages(&self) {
        if self.case.pages.is_empty() {
            return;
        }
        let answers = self.case.pages.iter().enumerate().map(|(nth, name)| {
            let headers = self.case.page_headers.get(nth).cloned().unwrap_or_default();
            Answer { headers, ..self.answer(self.file(name)) }
        });
        let answers: Vec<Answer> = answers.collect();
        let (told, judgement, asked) = self.judged(answers.clone()).await;
        let ids: Vec<&str> = judgement.effects.iter().map(|effect| effect.id.as_str()).collect();
        assert_eq!(ids, self.case.pages_ids, "{}: {:?}", self.at, shown(&told));
        assert!(ids.len() > 1, "{}: an effect on the first page and one on the last", self.at);
        self.assert_asked(&asked, &self.case.requests);
        // Without its last page an answer is none.
        let (_, judgement, _) = self.judged(answers[..2].to_vec()).await;
        assert_eq!(judgement.verdict, Verdict::Unknown, "{}", self.at);
    }

    /// The same pages, asked for nobody in particular.
    async fn listing(&self) {
        let Some(request) = &self.case.listing else { return };
        let answers = self.case.pages.iter().enumerate().map(|(nth, name)| {
            let headers = self.case.page_headers.get(nth).cloned().unwrap_or_default();
            Answer { headers, ..self.answer(self.file(name)) }
        });
        let (listed, asked) = self.stage.list(answers.collect()).await;
        let listing = listed.outcome.unwrap_or_else(|fault| panic!("{}: {fault}", self.at));
        let ours = listing.effects().iter().filter(|one| one.references.contains(&self.case.reference));
        let ids: Vec<&str> = ours.map(|one| one.id.as_str()).collect();
        assert_eq!(ids, self.case.pages_ids, "{}", self.at);
        assert_eq!((asked.len(), &asked[0].line), (3, request), "{}", self.at);
        let body = self.case.listing_body.as_ref().map_or(Value::Null, |name| self.file(name));
        assert_eq!(asked[0].body, body, "{}", self.at);
    }

    fn verdict_of(&self, status: &str) -> Verdict {
        if self.case.happened.contains(status) {
            Verdict::Happened
        } else if self.case.pending.contains(status) {
            Verdict::Pending
        } else if self.case.failed.contains(status) {
            Verdict::Failed
        } else {
            Verdict::Unknown
        }
    }

    /// The requests are those of the case, with who asks and the preset's own headers, and nothing else.
    fn assert_asked(&self, asked: &[Asked], requests: &[String]) {
        let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
        assert_eq!(lines, requests, "{}", self.at);
        for (nth, asked) in asked.iter().enumerate() {
            let usual = ["accept", "accept-encoding", "host", "user-agent"];
            let of_body: &[&str] =
                if asked.body.is_null() { &[] } else { &["content-length", "content-type"] };
            let who = self.stage.auth_headers();
            let own = self.case.headers.keys().map(String::as_str).chain(who.iter().map(String::as_str));
            let expected: BTreeSet<&str> =
                usual.into_iter().chain(of_body.iter().copied()).chain(own).collect();
            let names: BTreeSet<&str> = asked.headers.keys().map(String::as_str).collect();
            assert_eq!(names, expected, "{}", self.at);
            for (name, value) in &self.case.headers {
                assert_eq!(&asked.headers[name], value, "{}", self.at);
            }
            self.stage.assert_who_asks(asked);
            let body = self.case.bodies.get(nth).map_or(Value::Null, |name| self.file(name));
            assert_eq!(asked.body, body, "{}", self.at);
        }
    }
}

/// `true` and `false` are statuses too, and no texts in an answer.
fn status_value(status: &str) -> Value {
    match status {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => Value::from(text),
    }
}

/// An answer's effects in one line each: id, status, money, time.
fn shown(told: &Told) -> Result<Vec<String>, FaultKind> {
    let effects = match told {
        Told::Complete { effects, .. } => effects,
        Told::Fault(fault) => return Err(fault.kind),
    };
    Ok(effects.iter().map(line_of).collect())
}

fn line_of(effect: &unstuck::domain::evidence::Effect) -> String {
    let money = effect.money.as_ref().map_or("-".to_owned(), ToString::to_string);
    let at = effect.at.map_or("-".to_owned(), |at| at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true));
    assert!(effect.at.is_none_or(|at| at < now()), "{at}");
    format!("{} | {} | {money} | {at}", effect.id, effect.status)
}
