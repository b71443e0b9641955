//! From what a file says to what the program uses: small checks, one sentence each.

mod effects;
mod listing;
mod paging;
mod request;
pub(super) mod send;
mod sql;

use super::file::{
    AuthFile, AuthKind, BasicSecret, FileType, LimitsFile, MethodFile, OperationFile, PresetFile,
    StatusesFile,
};
use super::sql::SQL_PACE_PER_SECOND;
use super::{
    Absence, Auth, BodyTest, Confirm, How, IN_FLIGHT_MAX, ItemsPlace, Limits, LookUp, Lookback, Method, Must,
    Operation, PACE_PER_SECOND, PageStep, Place, ProviderPreset, ProviderSettings, ReferencePlace,
};
use crate::domain::evidence::{Clocks, EffectState};
use crate::domain::moment::parse_duration;
use crate::domain::pace::Patience;
use crate::preset::template::Template;
use chrono::{NaiveDate, TimeDelta};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where a check is: it makes the beginning of each message.
#[derive(Clone, Copy)]
struct At<'names> {
    preset: &'names str,
    operation: Option<&'names str>,
    variables: &'names BTreeMap<String, String>,
    /// What stands before the field's name, within an operation.
    part: &'static str,
}

impl At<'_> {
    /// A message: preset, operation, field, and what is wrong with it.
    fn wrong(self, field: &str, sentence: impl AsRef<str>) -> String {
        let operation = self.operation.map(|name| format!(", operation `{name}`")).unwrap_or_default();
        format!("provider preset `{}`{operation}, `{}{field}`: {}", self.preset, self.part, sentence.as_ref())
    }

    fn needed<T>(self, field: &str, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| self.wrong(field, "it is missing"))
    }

    fn place(self, field: &str, text: &str) -> Result<Place, String> {
        Place::parse(text).map_err(|sentence| self.wrong(field, sentence))
    }

    fn place_if(self, field: &str, text: Option<&String>) -> Result<Option<Place>, String> {
        text.map(|text| self.place(field, text)).transpose()
    }

    fn template(self, field: &str, text: &str) -> Result<Template, String> {
        Template::parse(text).map_err(|sentence| self.wrong(field, sentence))
    }

    fn templates(
        self,
        field: &str,
        texts: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Template>, String> {
        texts
            .iter()
            .map(|(name, text)| Ok((name.clone(), self.template(&format!("{field}.{name}"), text)?)))
            .collect()
    }

    fn duration(self, field: &str, text: &str) -> Result<TimeDelta, String> {
        parse_duration(text).map_err(|sentence| self.wrong(field, sentence))
    }

    fn pace(self, value: Option<f64>) -> Result<Option<f64>, String> {
        match value {
            Some(pace) if !(pace.is_finite() && pace > 0.0) => {
                Err(self.wrong("pace_per_second", "it must be greater than zero"))
            }
            other => Ok(other),
        }
    }

    fn at_least_one(self, field: &str, value: Option<usize>) -> Result<Option<usize>, String> {
        if value == Some(0) { Err(self.wrong(field, "it must be at least 1")) } else { Ok(value) }
    }
}

/// Checks a whole preset.
pub(super) fn preset(file: &PresetFile) -> Result<ProviderPreset, String> {
    let at = At { preset: &file.name, operation: None, variables: &file.variables, part: "" };
    let FileType::Provider = file.kind;
    name(at, "name", &file.name)?;
    if file.operations.is_empty() {
        return Err(at.wrong("operations", "there is none"));
    }
    let is_sql = file.operations.values().any(|operation| operation.sql.is_some());
    let auth = if is_sql { no_http(at, file)? } else { auth(at, file.auth.as_ref())? };
    let mut operations = BTreeMap::new();
    for (operation_name, operation_file) in &file.operations {
        let at = At { operation: Some(operation_name), ..at };
        name(at, "operations", operation_name)?;
        operations.insert(operation_name.clone(), operation(at, operation_name, operation_file)?);
    }
    let preset = ProviderPreset {
        title: file.title.clone(),
        verified_with: file.verified_with.clone(),
        verified_on: file.verified_on.as_deref().map(|text| date(at, text)).transpose()?,
        source: file.source.clone(),
        base_url: file.base_url.as_deref().map(|text| base_url(at, text)).transpose()?,
        auth,
        headers: request::headers(at, &file.headers)?,
        variables: file.variables.clone(),
        optional_variables: file.optional_variables.clone(),
        limits: limits(at, &file.limits)?,
        pace_per_second: at.pace(file.pace_per_second)?.unwrap_or(if is_sql {
            SQL_PACE_PER_SECOND
        } else {
            PACE_PER_SECOND
        }),
        in_flight_max: at.at_least_one("in_flight_max", file.in_flight_max)?.unwrap_or(IN_FLIGHT_MAX),
        operations,
        name: file.name.as_str().into(),
    };
    Ok(preset)
}

/// A database is asked as its address says, and not also over HTTP.
fn no_http(at: At<'_>, file: &PresetFile) -> Result<Auth, String> {
    let asks_over_http =
        |operation: &&OperationFile| operation.sql.is_none() && operation.unanswerable.is_none();
    if file.operations.values().find(asks_over_http).is_some() {
        return Err(at.wrong("operations", "some are read by SQL and some asked over HTTP: make two presets"));
    }
    let told = [
        ("auth", file.auth.is_some()),
        ("base_url", file.base_url.is_some()),
        ("headers", !file.headers.is_empty()),
        ("variables", !file.variables.is_empty() || !file.optional_variables.is_empty()),
    ];
    match told.into_iter().find(|(_, is_told)| *is_told) {
        Some((field, _)) => Err(at.wrong(field, "it does not go with what is read by SQL")),
        None => Ok(Auth::None),
    }
}

fn name(at: At<'_>, field: &str, text: &str) -> Result<(), String> {
    let good = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'));
    if good { Ok(()) } else { Err(at.wrong(field, "a name has small letters, digits, `_` and `-` only")) }
}

fn date(at: At<'_>, text: &str) -> Result<NaiveDate, String> {
    text.parse().map_err(|_| at.wrong("verified_on", "write a day such as \"2026-11-30\""))
}

fn base_url(at: At<'_>, text: &str) -> Result<url::Url, String> {
    ProviderSettings::parse_base_url(text).map_err(|sentence| at.wrong("base_url", sentence))
}

fn auth(at: At<'_>, file: Option<&AuthFile>) -> Result<Auth, String> {
    let file = at.needed("auth", file)?;
    let unused = |field: &str, present: bool| {
        if present { Err(at.wrong(field, "it does not go with this kind of auth")) } else { Ok(()) }
    };
    if file.kind != AuthKind::Basic {
        unused("auth.user", file.user.is_some())?;
        unused("auth.secret_is", file.secret_is.is_some())?;
    }
    if file.kind != AuthKind::Header {
        unused("auth.header", file.header.is_some())?;
        unused("auth.prefix", file.prefix.is_some())?;
    }
    if file.kind != AuthKind::ClientCredentials {
        unused("auth.token_url", file.token_url.is_some())?;
        unused("auth.scope", file.scope.is_some())?;
    }
    if file.kind != AuthKind::AwsSigv4 {
        unused("auth.service", file.service.is_some())?;
        unused("auth.region", file.region.is_some())?;
    }
    match file.kind {
        AuthKind::AwsSigv4 => Ok(Auth::AwsSigV4 {
            service: at.needed("auth.service", file.service.clone())?,
            region: at.template("auth.region", file.region.as_deref().unwrap_or_default())?,
        }),
        AuthKind::ClientCredentials => Ok(Auth::ClientCredentials {
            token_url: at
                .template("auth.token_url", at.needed("auth.token_url", file.token_url.as_deref())?)?,
            scope: file.scope.clone(),
        }),
        AuthKind::None => Ok(Auth::None),
        AuthKind::Bearer => Ok(Auth::Bearer),
        AuthKind::Header => {
            let name = at.needed("auth.header", file.header.clone())?;
            request::header_name(at, "auth.header", &name)?;
            Ok(Auth::Header { name, prefix: file.prefix.clone().unwrap_or_default() })
        }
        AuthKind::Basic => match (at.needed("auth.secret_is", file.secret_is)?, &file.user) {
            (BasicSecret::User, None) => Ok(Auth::BasicUser),
            (BasicSecret::UserAndPassword, None) => Ok(Auth::BasicPair),
            (BasicSecret::Password, Some(user)) => at.template("auth.user", user).map(Auth::BasicPassword),
            (BasicSecret::Password, None) => Err(at.wrong("auth.user", "it is missing")),
            (BasicSecret::User | BasicSecret::UserAndPassword, Some(_)) => {
                Err(at.wrong("auth.user", "the secret is the user already"))
            }
        },
    }
}

fn limits(at: At<'_>, file: &LimitsFile) -> Result<Limits, String> {
    let usual = Limits::default();
    let seconds = |field: &str, value: Option<f64>, usual: Duration| match value {
        None => Ok(usual),
        Some(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(Duration::from_secs_f64(seconds)),
        Some(_) => Err(at.wrong(field, "it must be greater than 0 and at most 3600")),
    };
    let tries_max = file.tries_max.unwrap_or(usual.patience.tries_max);
    if !(1..=10).contains(&tries_max) {
        return Err(at.wrong("limits.tries_max", "it must be from 1 to 10"));
    }
    let count = |field: &str, value: Option<usize>, usual| {
        at.at_least_one(field, value).map(|value| value.unwrap_or(usual))
    };
    Ok(Limits {
        body_bytes_max: count("limits.body_bytes_max", file.body_bytes_max, usual.body_bytes_max)?,
        bodies_kept_bytes_max: file.bodies_kept_bytes_max.unwrap_or(usual.bodies_kept_bytes_max),
        pages_max: count("limits.pages_max", file.pages_max, usual.pages_max)?,
        request_max: seconds("limits.request_seconds_max", file.request_seconds_max, usual.request_max)?,
        check_max: seconds("limits.check_seconds_max", file.check_seconds_max, usual.check_max)?,
        patience: Patience { tries_max, ..usual.patience },
    })
}

fn operation(at: At<'_>, name: &str, file: &OperationFile) -> Result<Operation, String> {
    let key_ttl = file.key_ttl.as_deref().map(|text| at.duration("key_ttl", text)).transpose()?;
    let (how, settle, lookback) = if let Some(why) = &file.unanswerable {
        let asks = file.path.is_some()
            || file.effects.is_some()
            || file.paging.is_some()
            || file.listing.is_some()
            || file.sql.is_some();
        if why.trim().is_empty() || asks {
            return Err(
                at.wrong("unanswerable", "it says why nobody can be asked, and nothing says how to ask")
            );
        }
        (How::Unanswerable(why.clone()), TimeDelta::zero(), Lookback::Unlimited)
    } else {
        let settle = at.duration("settle", at.needed("settle", file.settle.as_deref())?)?;
        let lookback = Lookback::parse(at.needed("lookback", file.lookback.as_deref())?)
            .map_err(|sentence| at.wrong("lookback", format!("{sentence}, or \"unlimited\"")))?;
        let how = match &file.sql {
            Some(own) => How::Sql(Box::new(sql::sql(at, file, own)?)),
            None => How::Ask(Box::new(look_up(at, file)?)),
        };
        (how, settle, lookback)
    };
    Ok(Operation {
        title: file.title.clone().unwrap_or_else(|| name.to_owned()),
        clocks: Clocks { settle, lookback: lookback.span(), key_ttl },
        pace_per_second: at.pace(file.pace_per_second)?,
        in_flight_max: at.at_least_one("in_flight_max", file.in_flight_max)?,
        listing: file
            .listing
            .as_ref()
            .map(|own| listing::listing(at, file, own).map(Box::new))
            .transpose()?,
        how,
    })
}

fn look_up(at: At<'_>, file: &OperationFile) -> Result<LookUp, String> {
    let request = request::request(at, file)?;
    let effects_file = at.needed("effects", file.effects.as_ref())?;
    let effects = effects::effects(at, effects_file)?;
    let absence = absence(at, file, &effects.items)?;
    let addressed = request.path.iter().any(|part| part.source().contains("reference"));
    if matches!(absence, Absence::Status404(_)) && !addressed {
        return Err(at.wrong("absence", "a 404 is an absence only where `path` is made from our `reference`"));
    }
    if effects.reference == ReferencePlace::InAddress && !addressed {
        return Err(at.wrong("effects.reference_in_address", "`path` is not made from our `reference`"));
    }
    if matches!(request.method, Method::Head) && !matches!(effects.items, ItemsPlace::One(_)) {
        return Err(at.wrong("effects.one", "a HEAD has one effect at most: write one = \"$\""));
    }
    let paging = paging::paging(at, at.needed("paging", file.paging.as_ref())?, &effects)?;
    if matches!(effects.items, ItemsPlace::One(_)) && paging.step != PageStep::Single {
        return Err(at.wrong("paging.kind", "an answer with one effect has no pages: write kind = \"none\""));
    }
    if paging::parameter_in_body(&paging) && request.body.is_none() {
        return Err(at.wrong("paging.parameter_in_body", "the request has no body"));
    }
    Ok(LookUp {
        success: tests(at, "success", &file.success)?,
        statuses: statuses(at, file)?,
        confirm: confirm(at, file, &absence)?,
        request,
        absence,
        effects,
        paging,
    })
}

fn absence(at: At<'_>, file: &OperationFile, items: &ItemsPlace) -> Result<Absence, String> {
    use super::file::AbsenceFile;
    match (file.absence, &file.absence_when) {
        (AbsenceFile::EmptyList, None) if matches!(items, ItemsPlace::One(_)) => Err(at.wrong(
            "absence",
            "an answer with one effect cannot be empty: write absence = \"status_404\", or \"never\"",
        )),
        (AbsenceFile::EmptyList, None) => Ok(Absence::EmptyList),
        (AbsenceFile::Never, None) if matches!(items, ItemsPlace::One(_)) => Ok(Absence::Never),
        (AbsenceFile::Never, None) => {
            Err(at.wrong("absence", "a list may be empty: \"never\" goes with `one`"))
        }
        (AbsenceFile::EmptyList | AbsenceFile::Never, Some(_)) => {
            Err(at.wrong("absence_when", "it goes with absence = \"status_404\""))
        }
        (AbsenceFile::Status404, Some(list)) => tests(at, "absence_when", list).map(Absence::Status404),
        (AbsenceFile::Status404, None) if file.method == Some(MethodFile::Head) => Ok(Absence::Status404(Vec::new())),
        (AbsenceFile::Status404, None) => Err(at.wrong(
            "absence_when",
            "say what the body of the provider's own 404 has, so that a proxy's is not taken for it ([] for nothing)",
        )),
    }
}

fn confirm(at: At<'_>, file: &OperationFile, absence: &Absence) -> Result<Option<Confirm>, String> {
    let Some(own) = &file.absence_confirm else { return Ok(None) };
    if !matches!(absence, Absence::Status404(_)) {
        return Err(at.wrong("absence_confirm", "it goes with absence = \"status_404\""));
    }
    let path = request::path(at, "absence_confirm.path", &own.path)?;
    let query = at.templates("absence_confirm.query", &own.query)?;
    let mut names = path.iter().chain(query.values()).flat_map(Template::names);
    if names.any(|name| name == "reference") {
        return Err(at.wrong(
            "absence_confirm.path",
            "it asks for what must be there whatever became of our `reference`, and cannot be made from it",
        ));
    }
    let method = match own.method.unwrap_or(MethodFile::Get) {
        MethodFile::Get => Method::Get,
        MethodFile::Head => Method::Head,
        MethodFile::Post => return Err(at.wrong("absence_confirm.method", "write \"GET\" or \"HEAD\"")),
    };
    Ok(Some(Confirm { method, path, query, success: tests(at, "absence_confirm.success", &own.success)? }))
}

fn tests(at: At<'_>, field: &str, files: &[super::file::TestFile]) -> Result<Vec<BodyTest>, String> {
    files
        .iter()
        .map(|file| {
            let must = match (file.exists, &file.equals) {
                (Some(true), None) => Must::Exist,
                (Some(false), None) => Must::NotExist,
                (None, Some(value)) => Must::Equal(
                    super::body::plain_value(value).map_err(|sentence| at.wrong(field, sentence))?,
                ),
                _ => return Err(at.wrong(field, "say either `exists` or `equals`")),
            };
            Ok(BodyTest { place: at.place(field, &file.path)?, must })
        })
        .collect()
}

fn statuses(at: At<'_>, file: &OperationFile) -> Result<BTreeMap<String, EffectState>, String> {
    states_of(at, file.statuses.as_ref())
}

fn states_of(at: At<'_>, file: Option<&StatusesFile>) -> Result<BTreeMap<String, EffectState>, String> {
    let lists = at.needed("statuses", file)?;
    let mut states = BTreeMap::new();
    for (list, state) in [
        (&lists.happened, EffectState::Happened),
        (&lists.pending, EffectState::Pending),
        (&lists.failed, EffectState::Failed),
    ] {
        for status in list {
            if states.insert(status.clone(), state).is_some() {
                return Err(at.wrong("statuses", format!("`{status}` is listed twice")));
            }
        }
    }
    if lists.happened.is_empty() {
        return Err(at.wrong("statuses.happened", "no status says that it happened"));
    }
    Ok(states)
}
