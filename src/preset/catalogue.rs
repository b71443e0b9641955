//! Every preset the program knows: those built in, and an operator's own, which come first.

use super::PresetFault;
use super::escalation::EscalationPreset;
use super::provider::ProviderPreset;
use super::source::SourcePreset;
use super::source::file::SourceFile;
use crate::domain::error_class::{ErrorTable, ErrorTableFault};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const BUILT_IN_SOURCES: [(&str, &str); 33] = [
    ("airflow.toml", include_str!("../../assets/presets/airflow.toml")),
    ("apalis.toml", include_str!("../../assets/presets/apalis.toml")),
    ("celery_taskmeta.toml", include_str!("../../assets/presets/celery_taskmeta.toml")),
    ("delayed_job.toml", include_str!("../../assets/presets/delayed_job.toml")),
    ("django_celery_results.toml", include_str!("../../assets/presets/django_celery_results.toml")),
    ("django_q2.toml", include_str!("../../assets/presets/django_q2.toml")),
    ("django_q2_task.toml", include_str!("../../assets/presets/django_q2_task.toml")),
    ("good_job.toml", include_str!("../../assets/presets/good_job.toml")),
    ("graphile_worker.toml", include_str!("../../assets/presets/graphile_worker.toml")),
    ("hangfire.toml", include_str!("../../assets/presets/hangfire.toml")),
    ("huey.toml", include_str!("../../assets/presets/huey.toml")),
    ("idempotency_keys.toml", include_str!("../../assets/presets/idempotency_keys.toml")),
    ("inbox.toml", include_str!("../../assets/presets/inbox.toml")),
    ("inbox_pascal.toml", include_str!("../../assets/presets/inbox_pascal.toml")),
    ("jobs.toml", include_str!("../../assets/presets/jobs.toml")),
    ("laravel_failed_jobs.toml", include_str!("../../assets/presets/laravel_failed_jobs.toml")),
    ("laravel_jobs.toml", include_str!("../../assets/presets/laravel_jobs.toml")),
    ("oban.toml", include_str!("../../assets/presets/oban.toml")),
    ("outbox.toml", include_str!("../../assets/presets/outbox.toml")),
    ("outbox_debezium.toml", include_str!("../../assets/presets/outbox_debezium.toml")),
    ("pg_boss.toml", include_str!("../../assets/presets/pg_boss.toml")),
    ("pgqueuer.toml", include_str!("../../assets/presets/pgqueuer.toml")),
    ("pgqueuer_log.toml", include_str!("../../assets/presets/pgqueuer_log.toml")),
    ("processed_items.toml", include_str!("../../assets/presets/processed_items.toml")),
    ("procrastinate.toml", include_str!("../../assets/presets/procrastinate.toml")),
    ("quartz.toml", include_str!("../../assets/presets/quartz.toml")),
    ("que.toml", include_str!("../../assets/presets/que.toml")),
    ("river.toml", include_str!("../../assets/presets/river.toml")),
    ("sent_emails.toml", include_str!("../../assets/presets/sent_emails.toml")),
    ("solid_queue.toml", include_str!("../../assets/presets/solid_queue.toml")),
    ("symfony_messenger.toml", include_str!("../../assets/presets/symfony_messenger.toml")),
    ("symfony_messenger_failed.toml", include_str!("../../assets/presets/symfony_messenger_failed.toml")),
    ("symfony_messenger_local.toml", include_str!("../../assets/presets/symfony_messenger_local.toml")),
];
const BUILT_IN_PROVIDERS: [(&str, &str); 31] = [
    ("adyen.toml", include_str!("../../assets/presets/adyen.toml")),
    ("braintree.toml", include_str!("../../assets/presets/braintree.toml")),
    ("github.toml", include_str!("../../assets/presets/github.toml")),
    ("gocardless.toml", include_str!("../../assets/presets/gocardless.toml")),
    ("http_ledger.toml", include_str!("../../assets/presets/http_ledger.toml")),
    ("jira.toml", include_str!("../../assets/presets/jira.toml")),
    ("jira_data_center.toml", include_str!("../../assets/presets/jira_data_center.toml")),
    ("ledger.toml", include_str!("../../assets/presets/ledger.toml")),
    ("maildev.toml", include_str!("../../assets/presets/maildev.toml")),
    ("mailgun.toml", include_str!("../../assets/presets/mailgun.toml")),
    ("mercado_pago.toml", include_str!("../../assets/presets/mercado_pago.toml")),
    ("modern_treasury.toml", include_str!("../../assets/presets/modern_treasury.toml")),
    ("opsgenie.toml", include_str!("../../assets/presets/opsgenie.toml")),
    ("own_address.toml", include_str!("../../assets/presets/own_address.toml")),
    ("pagarme.toml", include_str!("../../assets/presets/pagarme.toml")),
    ("pagerduty.toml", include_str!("../../assets/presets/pagerduty.toml")),
    ("paypal.toml", include_str!("../../assets/presets/paypal.toml")),
    ("pix.toml", include_str!("../../assets/presets/pix.toml")),
    ("postmark.toml", include_str!("../../assets/presets/postmark.toml")),
    ("resend.toml", include_str!("../../assets/presets/resend.toml")),
    ("s3.toml", include_str!("../../assets/presets/s3.toml")),
    ("sendgrid.toml", include_str!("../../assets/presets/sendgrid.toml")),
    ("ses.toml", include_str!("../../assets/presets/ses.toml")),
    ("slack.toml", include_str!("../../assets/presets/slack.toml")),
    ("sql_ledger.toml", include_str!("../../assets/presets/sql_ledger.toml")),
    ("square.toml", include_str!("../../assets/presets/square.toml")),
    ("stripe.toml", include_str!("../../assets/presets/stripe.toml")),
    ("twilio.toml", include_str!("../../assets/presets/twilio.toml")),
    ("whatsapp.toml", include_str!("../../assets/presets/whatsapp.toml")),
    ("wise.toml", include_str!("../../assets/presets/wise.toml")),
    ("zendesk.toml", include_str!("../../assets/presets/zendesk.toml")),
];
const BUILT_IN_ESCALATIONS: [(&str, &str); 5] = [
    ("jira_issue.toml", include_str!("../../assets/presets/escalation/jira_issue.toml")),
    ("opsgenie_alert.toml", include_str!("../../assets/presets/escalation/opsgenie_alert.toml")),
    ("pagerduty_events.toml", include_str!("../../assets/presets/escalation/pagerduty_events.toml")),
    ("slack_message.toml", include_str!("../../assets/presets/escalation/slack_message.toml")),
    ("zendesk_ticket.toml", include_str!("../../assets/presets/escalation/zendesk_ticket.toml")),
];
const BUILT_IN_ERRORS: &str = include_str!("../../assets/errors.toml");
/// The JSON schema of source presets, for editors.
pub const SOURCE_SCHEMA: &str = include_str!("../../assets/schemas/source-preset.json");
/// The name of an operator's own error rules among the preset files.
const ERRORS_FILE: &str = "errors.toml";

/// Every preset, checked, by name.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// How to read job systems. The file is kept too: a configuration may use it with another table.
    pub sources: Sources,
    /// How to ask providers.
    pub providers: Providers,
    /// How to escalate.
    pub escalations: Escalations,
    /// What error texts prove.
    pub errors: Arc<ErrorTable>,
}

/// What a preset file says that it is.
#[derive(serde::Deserialize)]
struct Sniffed {
    #[serde(rename = "type")]
    file_type: Option<String>,
}

impl Catalogue {
    /// The built-in presets with an operator's own in front: each a file name and its text.
    ///
    /// # Errors
    /// The first file that cannot be used.
    pub fn new(own: &[(String, String)]) -> Result<Self, PresetFault> {
        let mut errors = ErrorTable::parse_later(BUILT_IN_ERRORS);
        // Dozens of files, read before anything else can begin: by all processors together.
        let (sources, providers): (Result<Sources, _>, Result<Providers, _>) = rayon::join(
            || BUILT_IN_SOURCES.par_iter().map(|(file, text)| source(file, text)).collect(),
            || BUILT_IN_PROVIDERS.par_iter().map(|(file, text)| provider(file, text)).collect(),
        );
        let (mut sources, mut providers) = (sources?, providers?);
        let built_in = BUILT_IN_ESCALATIONS.iter().map(|(file, text)| escalation(file, text));
        let mut escalations = built_in.collect::<Result<Escalations, _>>()?;
        for (file, text) in own {
            if file == ERRORS_FILE {
                errors = errors.with_first(parse_errors(file, text)?);
                continue;
            }
            let sniffed: Sniffed = toml::from_str(text)
                .map_err(|fault| PresetFault { preset: file.clone(), what: one_line(&fault, text) })?;
            match sniffed.file_type.as_deref() {
                Some("source") => sources.extend([source(file, text)?]),
                Some("provider") => providers.extend([provider(file, text)?]),
                Some("escalation") => escalations.extend([escalation(file, text)?]),
                _ => {
                    let what = "`type` must be \"source\", \"provider\" or \"escalation\"".to_owned();
                    return Err(PresetFault { preset: file.clone(), what });
                }
            }
        }
        Ok(Self { sources, providers, escalations, errors: Arc::new(errors) })
    }
}

/// The text of a built-in preset, to read and to copy.
pub fn built_in_text(name: &str) -> Option<&'static str> {
    let file = format!("{name}.toml");
    BUILT_IN_SOURCES
        .iter()
        .chain(&BUILT_IN_PROVIDERS)
        .chain(&BUILT_IN_ESCALATIONS)
        .chain(&[(ERRORS_FILE, BUILT_IN_ERRORS)])
        .find(|(known, _)| *known == file)
        .map(|(_, text)| *text)
}

fn parse_errors(file: &str, text: &str) -> Result<ErrorTable, PresetFault> {
    ErrorTable::parse(text).map_err(|fault| {
        let what = match fault {
            ErrorTableFault::Unreadable(fault) => one_line(&fault, text),
            other => other.to_string().replace('\n', " "),
        };
        PresetFault { preset: file.to_owned(), what }
    })
}

type Sources = BTreeMap<String, (SourceFile, SourcePreset)>;
type Providers = BTreeMap<String, Arc<ProviderPreset>>;
type Escalations = BTreeMap<String, Arc<EscalationPreset>>;

fn source(file: &str, text: &str) -> Result<(String, (SourceFile, SourcePreset)), PresetFault> {
    let written = SourceFile::parse(file, text)?;
    let preset = written.check().map_err(|fault| PresetFault { preset: file.to_owned(), ..fault })?;
    Ok((preset.name.to_string(), (written, preset)))
}

fn provider(file: &str, text: &str) -> Result<(String, Arc<ProviderPreset>), PresetFault> {
    let preset = ProviderPreset::parse(text).map_err(|what| PresetFault { preset: file.to_owned(), what })?;
    Ok((preset.name.to_string(), Arc::new(preset)))
}

fn escalation(file: &str, text: &str) -> Result<(String, Arc<EscalationPreset>), PresetFault> {
    let preset =
        EscalationPreset::parse(text).map_err(|what| PresetFault { preset: file.to_owned(), what })?;
    Ok((preset.target.name.to_string(), Arc::new(preset)))
}

/// What the parser calls things, and what people do.
const PLAIN_WORDS: [(&str, &str); 5] = [
    ("expected usize", "expected a whole number, 0 or more"),
    ("expected u64", "expected a whole number, 0 or more"),
    ("expected f64", "expected a number"),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected a table"),
];

/// A TOML error in one line: where, and what.
pub fn one_line(fault: &toml::de::Error, text: &str) -> String {
    let what = PLAIN_WORDS
        .iter()
        .fold(fault.message().replace('\n', "; "), |what, (theirs, plain)| what.replace(theirs, plain));
    match fault.span() {
        Some(span) => {
            let before = text.get(..span.start.min(text.len())).unwrap_or("");
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
            format!("line {line}, column {column}: {what}")
        }
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_preset_is_sound_and_named_as_its_file() {
        let catalogue = Catalogue::new(&[]).unwrap();
        assert_eq!(catalogue.sources.len(), BUILT_IN_SOURCES.len());
        assert_eq!(catalogue.providers.len(), BUILT_IN_PROVIDERS.len());
        ErrorTable::parse(BUILT_IN_ERRORS).unwrap();
        for (file, _) in BUILT_IN_SOURCES {
            assert!(catalogue.sources.contains_key(file.trim_end_matches(".toml")), "{file}");
        }
        assert_eq!(catalogue.escalations.len(), BUILT_IN_ESCALATIONS.len());
        for (file, _) in BUILT_IN_ESCALATIONS {
            assert!(catalogue.escalations.contains_key(file.trim_end_matches(".toml")), "{file}");
        }
        for (file, _) in BUILT_IN_PROVIDERS {
            assert!(catalogue.providers.contains_key(file.trim_end_matches(".toml")), "{file}");
        }
    }

    #[test]
    fn an_operators_own_preset_comes_first() {
        let own = include_str!("../../assets/presets/jobs.toml")
            .replace("late_writer = \"unguarded\"", "late_writer = \"guarded\"");
        let catalogue = Catalogue::new(&[("mine.toml".to_owned(), own)]).unwrap();
        let (_, preset) = &catalogue.sources["jobs"];
        assert_eq!(preset.variants[0].decisions.late_writer, crate::ports::source::LateWriter::Guarded);
    }

    #[test]
    fn a_file_must_say_what_it_is() {
        let fault = Catalogue::new(&[("x.toml".to_owned(), "name = 'x'".to_owned())]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "preset `x.toml`: `type` must be \"source\", \"provider\" or \"escalation\""
        );
    }
}
