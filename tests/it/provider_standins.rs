//! Stand-ins for providers that others wrote, with real effects made by their own APIs, asked by the real program through the
//! presets that it ships: each case comes to its verdict, each fault to `unknown`. `tests/providers/README.md` has the
//! scripts' contract.

mod asking;
mod stand_in;

use asking::{Asking, SIGNED};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::Value;
use stand_in::{LookUp, StandIn, pinned};
use std::collections::{BTreeMap, BTreeSet};
use unstuck::preset::catalogue::Catalogue;
use unstuck::preset::provider::ProviderPreset;

/// One stand-in, and what asks it.
#[derive(Clone, Copy)]
struct Imitation {
    script: &'static str,
    /// A shipped preset, or the name of `own`.
    preset: &'static str,
    /// A preset of the user's own, in ten lines.
    own: Option<&'static str>,
    /// What a copy of the preset says otherwise, because the stand-in is not the provider: place and value.
    otherwise: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
    /// Whether it can be asked over a window.
    has_window: bool,
}

const LOCALSTRIPE: Imitation = Imitation {
    script: "localstripe_stand_in.py",
    preset: "stripe",
    own: None,
    // It does not know `amount_received`.
    otherwise: &[("operations.payment_intent.effects.amount", "\"$.amount\"")],
    variables: &[("metadata_key", "reference")],
    has_window: false,
};
const STRIPE_STATEFUL_MOCK: Imitation =
    Imitation { script: "stripe_stateful_mock.mjs", otherwise: &[], has_window: true, ..LOCALSTRIPE };
const MAILDEV: Imitation = Imitation {
    script: "maildev.mjs",
    preset: "maildev",
    own: None,
    otherwise: &[],
    variables: &[("header", "x-job-id")],
    has_window: true,
};
const MAILDEV_BY_FILTER: Imitation =
    Imitation { preset: "mails", own: Some(MAILS), variables: &[], ..MAILDEV };
const S3RVER: Imitation = Imitation {
    script: "s3rver.mjs",
    preset: "s3",
    own: None,
    otherwise: &[],
    variables: &[("bucket", "receipts")],
    has_window: true,
};
// It wants to see a signature, which the preset leaves to a proxy.
const MOTO: Imitation = Imitation { script: "moto_stand_in.py", otherwise: &[SIGNED], ..S3RVER };
const JIRA820: Imitation =
    Imitation { script: "jira820_stand_in.py", preset: "jira_data_center", variables: &[], ..S3RVER };
const JSON_SERVER: Imitation = Imitation {
    script: "json_server.mjs",
    preset: "payments",
    own: Some(PAYMENTS),
    variables: &[],
    ..S3RVER
};
const JSON_SERVER_BY_ADDRESS: Imitation = Imitation { preset: "own_address", own: None, ..JSON_SERVER };

/// Every shipped preset that is tried here, with the package that it is tried on.
const TRIED: [(&str, &str); 7] = [
    ("jira_data_center", "jira820"),
    ("maildev", "maildev"),
    ("own_address", "json-server"),
    ("s3", "moto"),
    ("s3", "s3rver"),
    ("stripe", "localstripe"),
    ("stripe", "stripe-stateful-mock"),
];

/// A filter, in ten lines: what a user writes who does not want the whole inbox.
const MAILS: &str = r#"
type = "provider"
name = "mails"
title = "Mails"
auth = { kind = "basic", secret_is = "user_and_password" }
[operations.message]
path = "/api/email"
query = { "headers.x-job-id" = "{{ reference }}" }
settle = "1m"
lookback = "1d"
effects = { list = "$", id = "$.id", reference = "$.headers['x-job-id']", status_fixed = "caught" }
statuses = { happened = ["caught"] }
paging = { kind = "none" }
"#;
/// Pages by `Link`, in ten lines, and how they are listed.
const PAYMENTS: &str = r#"
type = "provider"
name = "payments"
title = "Payments"
auth = { kind = "none" }
[operations.payment]
path = "/payments"
query = { _page = "1", _limit = "20" }
settle = "5m"
lookback = "90d"
effects = { list = "$", id = "$.id", reference = "$.reference", status = "$.status", amount = "$.amount", currency = "$.currency", unit = "major" }
statuses = { happened = ["paid"], pending = ["processing"], failed = ["declined"] }
paging = { kind = "link_header", page_items = 20, parameter = "_page" }
[operations.payment.listing]
query = { _page = "1", _limit = "20" }
page_items = 20
"#;

impl Imitation {
    /// Whether the table above tells of it, and the version that is installed is the one that is pinned.
    fn assert_listed(&self, stand_in: &StandIn) {
        let name = &stand_in.started.stand_in;
        assert!(pinned().contains(name), "{name} is not what is pinned");
        let package = name.split(' ').next().unwrap();
        assert!(
            self.own.is_some() || TRIED.contains(&(self.preset, package)),
            "{} on {package}",
            self.preset
        );
    }

    fn preset(&self) -> ProviderPreset {
        match self.own {
            Some(text) => ProviderPreset::parse(text).unwrap(),
            None => (*Catalogue::new(&[]).unwrap().providers[self.preset]).clone(),
        }
    }

    /// Asks, item by item and by listing where the preset lists, and compares every answer with what it must be.
    fn ask(&self, stand_in: &StandIn, look_ups: &[LookUp]) {
        assert!(look_ups.len() > 3, "{}", self.script);
        self.assert_listed(stand_in);
        let asking = Asking::new(self, &stand_in.started, look_ups);
        assert_told(look_ups, &asking.check("item"));
        let preset = self.preset();
        let is_listed = |line: &LookUp| preset.operations[&line.operation].listing.is_some();
        if !look_ups.iter().any(is_listed) {
            return;
        }
        let asking = Asking::new(self, &stand_in.started, look_ups);
        let told = asking.check("listing");
        assert_told(look_ups, &told);
        // Whatever is read from one list rests on the same answers.
        let mut evidence: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (look_up, line) in look_ups.iter().zip(&told).filter(|(look_up, _)| is_listed(look_up)) {
            let hashes = evidence.entry((&look_up.operation, line["kind"].as_str().unwrap())).or_default();
            hashes.insert(line["evidence"].as_str().unwrap());
        }
        assert!(evidence.values().all(|hashes| hashes.len() == 1), "not by listing: {evidence:?}");
    }
}

fn assert_told(look_ups: &[LookUp], told: &[Value]) {
    assert_eq!(look_ups.len(), told.len());
    for (look_up, line) in look_ups.iter().zip(told) {
        let verdict = (line["verdict"].as_str().unwrap(), line["effects"].as_u64().unwrap());
        let expected = (look_up.expect.as_str(), look_up.effects as u64);
        assert_eq!(verdict, expected, "{}: {look_up:?}\n{line}", look_up.why);
        if look_up.expect == "unknown" && look_up.fault.is_none() {
            continue;
        }
        let ids: BTreeSet<&str> =
            line["effect_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(
            ids,
            look_up.ids.iter().map(String::as_str).collect(),
            "{}: {look_up:?}\n{line}",
            look_up.why
        );
    }
}

#[rstest]
#[case::localstripe(LOCALSTRIPE)]
#[case::stripe_stateful_mock(STRIPE_STATEFUL_MOCK)]
#[case::maildev(MAILDEV)]
#[case::maildev_by_filter(MAILDEV_BY_FILTER)]
#[case::moto(MOTO)]
#[case::s3rver(S3RVER)]
#[case::jira820(JIRA820)]
#[case::json_server(JSON_SERVER)]
fn each_case_comes_to_its_verdict_and_each_fault_to_unknown(#[case] imitation: Imitation) {
    let Some(stand_in) = StandIn::start(imitation.script) else { return };
    let mut cases = stand_in.seed();
    imitation.ask(&stand_in, &cases);
    let (early, later) = (cases.extract_if(.., |case| case.fault.is_some()).count(), stand_in.break_down());
    imitation.ask(&stand_in, &later);
    println!("{}: {} cases, {} faults", stand_in.started.stand_in, cases.len(), early + later.len());
}

/// Something at an address of ours: what is there has an `ETag`, and where the address is misspelt nothing is there at all.
#[test]
fn an_address_of_ours_is_told_from_a_misspelt_one() {
    let Some(stand_in) = StandIn::start(JSON_SERVER.script) else { return };
    stand_in.seed();
    let look_up = |reference: &str, expect: &str, base: &str, canary: Option<&str>| LookUp {
        operation: "object".to_owned(),
        reference: reference.to_owned(),
        expect: expect.to_owned(),
        effects: usize::from(expect == "happened"),
        ids: Vec::new(),
        amount: None,
        currency: None,
        fault: None,
        ask: [("base", Some(base)), ("canary", canary)]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect(),
        why: String::new(),
    };
    let look_ups = [
        look_up("1", "happened", "/payments", None),
        look_up("60", "happened", "/payments", Some("1")),
        look_up("999", "not_found", "/payments", None),
        look_up("999", "not_found", "/payments", Some("1")),
        look_up("1", "unknown", "/payment", Some("60")),
        look_up("999", "unknown", "/payment", Some("1")),
    ];
    JSON_SERVER_BY_ADDRESS.assert_listed(&stand_in);
    let told = Asking::new(&JSON_SERVER_BY_ADDRESS, &stand_in.started, &look_ups).check("item");
    for (look_up, line) in look_ups.iter().zip(&told) {
        let ids = line["effect_ids"].as_array().unwrap().len();
        assert_eq!((&line["verdict"], ids), (&Value::from(&*look_up.expect), look_up.effects), "{line}");
    }
}

/// What only another question can tell, the doctor tells before anybody relies on an absence.
#[test]
fn the_doctor_tells_a_misspelt_filter() {
    let Some(stand_in) = StandIn::start(MAILDEV.script) else { return };
    stand_in.seed();
    let mut faults = stand_in.break_down();
    faults.retain(|fault| fault.fault.as_deref() == Some("misspelt") && fault.reference == "order-never");
    assert_eq!(examined(MAILDEV_BY_FILTER, &stand_in, &faults), ["canary bad"]);
    faults[0].ask.remove("path");
    assert_eq!(examined(MAILDEV_BY_FILTER, &stand_in, &faults), ["answer good", "canary good"]);
}

#[test]
fn the_doctor_tells_a_wrong_bucket() {
    let Some(stand_in) = StandIn::start(S3RVER.script) else { return };
    let mut faults = stand_in.break_down();
    faults.retain(|fault| fault.fault.as_deref() == Some("no_bucket") && fault.reference == "order-never");
    assert_eq!(examined(S3RVER, &stand_in, &faults), ["answer bad"]);
    faults[0].ask.clear();
    assert_eq!(examined(S3RVER, &stand_in, &faults), ["answer good"]);
}

/// What the doctor says of the one provider.
fn examined(imitation: Imitation, stand_in: &StandIn, look_ups: &[LookUp]) -> Vec<String> {
    let ran = Asking::new(&imitation, &stand_in.started, look_ups).run("doctor --json");
    let lines = ran.json();
    let subject = format!("provider provider0.{}", look_ups[0].operation);
    let of_provider = lines.iter().filter(|line| line["subject"] == *subject);
    let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
    of_provider.map(|line| format!("{} {}", text(line, "what"), text(line, "health"))).collect()
}

/// What a preset claims to have been tried on is tried here, in the versions that are installed, and nothing else.
#[test]
fn a_preset_names_the_stand_ins_that_it_was_tried_on() {
    let catalogue = Catalogue::new(&[]).unwrap();
    let pinned = pinned();
    let begins_with = |claim: &str, stand_in: &str| {
        claim.strip_prefix(stand_in).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':', ',']))
    };
    let mut claimed = BTreeSet::new();
    for (name, preset) in &catalogue.providers {
        for claim in &preset.verified_with {
            let package = pinned
                .iter()
                .map(|pin| pin.split(' ').next().unwrap())
                .find(|package| begins_with(claim, package));
            let Some(package) = package else { continue };
            let version = pinned.iter().find(|pin| begins_with(pin, package)).unwrap();
            assert!(
                begins_with(claim, version),
                "{name} was tried on another version than {version}: {claim}"
            );
            claimed.insert((name.clone(), package.to_owned()));
        }
    }
    let tried = TRIED.map(|(preset, package)| (preset.to_owned(), package.to_owned()));
    assert_eq!(claimed, BTreeSet::from(tried));
}
