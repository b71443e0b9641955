//! What a database's catalogue shows: its tables, and which shape of the preset fits.

use super::Inner;
use super::connect::Lent;
use super::value::held_by;
use crate::adapters::sql::{Column, Picked, no_table, pick, quoted};
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::source::{Engine, Table};
use mysql_async::Error;
use mysql_async::consts::ColumnFlags;
use std::sync::Arc;

/// Every table and view of the address's database, with the types in the server's own words.
const TABLES: &str = "
SELECT CAST(table_name AS CHAR), CAST(column_name AS CHAR), CAST(column_type AS CHAR)
  FROM information_schema.columns
 WHERE table_schema = DATABASE()
 ORDER BY table_name, ordinal_position";

/// The tables of a database: all of them, or those of some names.
pub(super) async fn tables(lent: &mut Lent, names: Option<&[&str]>) -> Result<Vec<Table>, Error> {
    let mut tables: Vec<Table> = Vec::new();
    for (name, column, declared) in lent.conn().query::<(String, String, String)>(TABLES).await? {
        let is_wanted = |names: &[&str]| names.iter().any(|wanted| wanted.eq_ignore_ascii_case(&name));
        if !names.is_none_or(is_wanted) {
            continue;
        }
        match tables.last_mut() {
            Some(table) if table.name == name => table.columns.push((column, declared)),
            _ => {
                let columns = vec![(column, declared)];
                tables.push(Table { schema: String::new(), is_first: true, name, columns });
            }
        }
    }
    Ok(tables)
}

/// Chooses the preset's shape and reads the columns of its items.
pub(super) async fn look(inner: &Inner, lent: &mut Lent) -> Result<Arc<Picked>, SourceFault> {
    let (place, preset) = (&inner.place, &inner.known.preset);
    let names = preset.tables();
    let there = tables(lent, Some(&names)).await.map_err(|fault| place.fault(&fault))?;
    let is_there = |name: &str| there.iter().any(|table| table.name.eq_ignore_ascii_case(name));
    let mapping = match pick(preset, Engine::Mysql, &there) {
        Ok(mapping) => mapping,
        Err(misfit) => {
            check_visible(inner, lent, names.iter().copied().filter(|name| !is_there(name))).await?;
            return Err(place.misfit(misfit));
        }
    };
    let Some(table) = there.iter().find(|table| table.name.eq_ignore_ascii_case(&mapping.table)) else {
        check_visible(inner, lent, [mapping.table.as_str()].into_iter()).await?;
        return Err(place.misfit(no_table(&mapping, Engine::Mysql)));
    };
    let database = database(inner, lent).await.map_err(|fault| place.fault(&fault))?;
    let table = format!("mysql:{database}/{}", table.name);
    let mut picked = Picked { columns: Vec::new(), mapping };
    let sql = format!("SELECT * FROM {} LIMIT 0", picked.sql(Engine::Mysql).from());
    let statement = lent.conn().prep(sql).await.map_err(|fault| place.fault(&fault))?;
    picked.columns = statement
        .columns()
        .iter()
        .map(|column| Column {
            name: column.name_str().as_ref().into(),
            held: held_by(column),
            may_be_null: !column.flags().contains(ColumnFlags::NOT_NULL_FLAG),
            words: None,
        })
        .collect();
    lent.conn().close(statement).await.map_err(|fault| place.fault(&fault))?;
    picked.check_columns(Engine::Mysql).map_err(|misfit| place.misfit(misfit))?;
    Ok(inner.known.keep(picked, &table))
}

/// Which database it is, on whatever address: the identity that MySQL (`server_uuid`) and MariaDB from 10.10 on
/// (`server_uid`) give a server. Where there is none, the address.
async fn database(inner: &Inner, lent: &mut Lent) -> Result<String, Error> {
    let query = "SHOW GLOBAL VARIABLES WHERE variable_name IN ('server_uuid', 'server_uid')";
    let server: Option<(String, String)> = lent.conn().query_first(query).await?;
    let Some((_, server)) = server else { return Ok(inner.known.facts().whole_place.clone()) };
    let name: Option<String> = lent.conn().query_first("SELECT DATABASE()").await?.flatten();
    Ok(format!("{server}/{}", name.unwrap_or_default()))
}

/// The catalogue leaves out what an account has no right on. Asked for itself, such a table is told apart from one that is
/// not there.
async fn check_visible(
    inner: &Inner,
    lent: &mut Lent,
    missing: impl Iterator<Item = &'_ str>,
) -> Result<(), SourceFault> {
    for table in missing {
        let asked = format!("SELECT 1 FROM {} LIMIT 0", quoted(Engine::Mysql, table));
        if let Err(fault) = lent.conn().query_drop(asked).await {
            let fault = inner.place.fault(&fault);
            if fault.kind == SourceFaultKind::Unreachable {
                return Err(fault);
            }
        }
    }
    Ok(())
}
