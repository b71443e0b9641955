//! Checks of how effects are read from a database.

use super::effects::zone_of;
use super::{At, states_of};
use crate::preset::provider::file::{OperationFile, SqlFile};
use crate::preset::provider::sql::{AmountColumn, CurrencyColumn, RowsFrom, SqlLookUp, StatusColumn};
use crate::preset::source::{TimeColumn, parameters_of};

pub(super) fn sql(at: At<'_>, operation: &OperationFile, file: &SqlFile) -> Result<SqlLookUp, String> {
    let asks_otherwise = operation.path.is_some()
        || operation.method.is_some()
        || operation.effects.is_some()
        || operation.paging.is_some()
        || operation.listing.is_some()
        || operation.body.is_some()
        || operation.read_only_reason.is_some()
        || operation.absence_when.is_some()
        || operation.window_margin.is_some()
        || operation.read_only_post
        || operation.absence != super::super::file::AbsenceFile::default()
        || !operation.query.is_empty()
        || !operation.window.is_empty()
        || !operation.headers.is_empty()
        || !operation.success.is_empty();
    if asks_otherwise {
        return Err(at.wrong("sql", "what is read by SQL is not asked over HTTP: keep one of the two"));
    }
    for (field, column) in [("sql.id", &file.id), ("sql.reference", &file.reference)] {
        if column.trim().is_empty() {
            return Err(at.wrong(field, "it names no column"));
        }
    }
    Ok(SqlLookUp {
        from: from(at, file)?,
        id: file.id.clone(),
        reference: file.reference.clone(),
        reference_chars_max: at.at_least_one("sql.reference_chars_max", file.reference_chars_max)?,
        status: status(at, file)?,
        amount: amount(at, file)?,
        time: time(at, file)?,
        link: file.link.as_deref().map(|text| at.template("sql.link", text)).transpose()?,
        statuses: states_of(at, operation.statuses.as_ref())?,
    })
}

fn from(at: At<'_>, file: &SqlFile) -> Result<RowsFrom, String> {
    match (&file.table, &file.select) {
        (Some(table), None) if !table.trim().is_empty() => {
            Ok(RowsFrom::Table { schema: file.schema.clone(), table: table.clone() })
        }
        (None, Some(_)) if file.schema.is_some() => {
            Err(at.wrong("sql.schema", "it goes with `table`: name schemas within `select`"))
        }
        (None, Some(select)) => {
            let select = select.trim().trim_end_matches(';');
            let begins =
                |word: &str| select.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
            if !begins("select") && !begins("with") {
                return Err(at.wrong("sql.select", "it must be one query that begins with SELECT or WITH"));
            }
            if !parameters_of(select).is_empty() {
                return Err(at.wrong(
                    "sql.select",
                    "it has a parameter: rows are picked by their columns, around the query",
                ));
            }
            Ok(RowsFrom::Select(select.to_owned()))
        }
        _ => Err(at.wrong("sql.table", "say either `table` or `select`")),
    }
}

fn status(at: At<'_>, file: &SqlFile) -> Result<StatusColumn, String> {
    match (&file.status, &file.status_fixed) {
        (Some(column), None) => Ok(StatusColumn::Column(column.clone())),
        (None, Some(word)) if !word.is_empty() => Ok(StatusColumn::Fixed(word.clone())),
        _ => Err(at.wrong(
            "sql.status",
            "say its column, or `status_fixed` with a listed word where a row is the effect",
        )),
    }
}

fn amount(at: At<'_>, file: &SqlFile) -> Result<Option<AmountColumn>, String> {
    let Some(column) = &file.amount else {
        let alone = file.currency.is_some() || file.currency_fixed.is_some() || file.unit.is_some();
        return if alone { Err(at.wrong("sql.amount", "it is missing")) } else { Ok(None) };
    };
    let currency = match (&file.currency, &file.currency_fixed) {
        (Some(column), None) => CurrencyColumn::Column(column.clone()),
        (None, Some(code)) if code.len() == 3 => CurrencyColumn::Fixed(code.clone()),
        _ => {
            return Err(at.wrong("sql.currency", "say either its column or `currency_fixed` (three letters)"));
        }
    };
    Ok(Some(AmountColumn { column: column.clone(), currency, unit: at.needed("sql.unit", file.unit)? }))
}

fn time(at: At<'_>, file: &SqlFile) -> Result<Option<TimeColumn>, String> {
    let Some(column) = &file.time else {
        let alone = file.time_format.is_some() || file.time_zone.is_some();
        return if alone { Err(at.wrong("sql.time", "it is missing")) } else { Ok(None) };
    };
    Ok(Some(TimeColumn {
        column: column.clone(),
        format: file.time_format.unwrap_or_default(),
        zone: zone_of(at, "sql.time_zone", file.time_zone.as_deref())?,
    }))
}
