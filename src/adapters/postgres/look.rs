//! What a database's catalogue shows: its tables, which shape of the preset fits, and whether rows are hidden.

use super::Inner;
use super::client::{Error, value_at};
use super::connect::Lent;
use super::value::held_by;
use crate::adapters::sql::{Column, Picked, no_table, pick, quoted};
use crate::domain::text::clean;
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::source::{Engine, Mapping, Table};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_postgres::types::Kind;

/// Every table and view that is an application's, with the types in the database's own words. Partitions are read through
/// their parent.
const TABLES: &str = "
SELECT n.nspname, c.relname, pg_table_is_visible(c.oid), a.attname, format_type(a.atttypid, NULL)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
   AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
   AND n.nspname NOT LIKE 'pg\\_temp%' AND ($1::text[] IS NULL OR c.relname = ANY ($1::text[]))
 ORDER BY n.nspname, c.relname, a.attnum";

/// The tables of a database: all of them, or those of some names.
pub(super) async fn tables(lent: &Lent, names: Option<&[&str]>) -> Result<Vec<Table>, Error> {
    let mut tables: Vec<Table> = Vec::new();
    for row in lent.client().query(TABLES, &[&names]).await? {
        let (schema, name): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let column = (row.try_get(3)?, row.try_get(4)?);
        match tables.last_mut() {
            Some(table) if table.schema == schema && table.name == name => table.columns.push(column),
            _ => {
                tables.push(Table { schema, name, is_first: row.try_get(2)?, columns: vec![column] });
            }
        }
    }
    Ok(tables)
}

/// Chooses the preset's shape and reads the columns of its items.
pub(super) async fn look(inner: &Inner, lent: &Lent) -> Result<Arc<Picked>, SourceFault> {
    let (place, preset) = (&inner.place, &inner.known.preset);
    let names = preset.tables();
    // Both are on their way at once.
    let (all, database) = tokio::try_join!(tables(lent, Some(&names)), database(inner, lent))
        .map_err(|fault| place.fault(&fault))?;
    let schema = preset.variants.iter().find_map(|variant| variant.schema.as_deref());
    let (there, elsewhere): (Vec<Table>, Vec<Table>) = all.into_iter().partition(|table| table.is_in(schema));
    let mapping = match pick(preset, Engine::Postgres, &there) {
        Ok(mapping) => mapping,
        Err(misfit) => {
            check_usable(inner, lent, &elsewhere).await?;
            return Err(place.misfit(misfit));
        }
    };
    let Some(table) = there.iter().find(|table| table.name == mapping.table) else {
        check_usable(inner, lent, &elsewhere).await?;
        return Err(place.misfit(no_table(&mapping, Engine::Postgres)));
    };
    let table = format!("postgres:{database}/{}.{}", table.schema, table.name);
    check_hidden(inner, lent, &mapping, &there).await?;
    let mut picked = Picked { columns: Vec::new(), mapping };
    let sql = format!("SELECT * FROM {} LIMIT 0", picked.sql(Engine::Postgres).from());
    let statement = lent.client().prepare(&sql).await.map_err(|fault| place.fault(&fault))?;
    let never_null = never_null(lent, &picked).await.map_err(|fault| place.fault(&fault))?;
    let words = words(lent, statement.columns()).await.map_err(|fault| place.fault(&fault))?;
    picked.columns = statement
        .columns()
        .iter()
        .map(|column| Column {
            name: column.name().into(),
            held: held_by(column.type_()),
            may_be_null: !never_null.iter().any(|name| name == column.name()),
            words: words.get(&column.type_().oid()).cloned(),
        })
        .collect();
    picked.check_columns(Engine::Postgres).map_err(|misfit| place.misfit(misfit))?;
    Ok(inner.known.keep(picked, &table))
}

/// Which database it is, on whatever address: the number that a cluster has from its making, its replicas too. Where the
/// server keeps it from this role, the address.
async fn database(inner: &Inner, lent: &Lent) -> Result<String, Error> {
    let query = "SELECT current_database()::text, has_function_privilege('pg_control_system()', 'EXECUTE')";
    let row = lent.client().query_one(query, &[]).await?;
    let (name, may_ask): (String, bool) = (row.try_get(0)?, row.try_get(1)?);
    if !may_ask {
        return Ok(inner.known.facts().whole_place.clone());
    }
    let cluster = "SELECT system_identifier::text FROM pg_control_system()";
    let number: String = lent.client().query_one(cluster, &[]).await?.try_get(0)?;
    Ok(format!("{number}/{name}"))
}

/// The words of each type that is a list of words, as they are now: the driver remembers those of its first look, and a
/// later version of a job system adds some.
async fn words(lent: &Lent, columns: &[tokio_postgres::Column]) -> Result<HashMap<u32, Vec<String>>, Error> {
    let is_words = |of: &&tokio_postgres::Column| matches!(of.type_().kind(), Kind::Enum(_));
    let types: Vec<u32> = columns.iter().filter(is_words).map(|column| column.type_().oid()).collect();
    let mut words: HashMap<u32, Vec<String>> = HashMap::new();
    if types.is_empty() {
        return Ok(words);
    }
    let query = "SELECT enumtypid, enumlabel::text FROM pg_enum WHERE enumtypid = ANY ($1)";
    for row in lent.client().query(query, &[&types]).await? {
        words.entry(row.try_get(0)?).or_default().push(value_at(&row, 1)?);
    }
    Ok(words)
}

/// The columns of a table that are never NULL. A query may join what has none.
async fn never_null(lent: &Lent, picked: &Picked) -> Result<Vec<String>, Error> {
    if picked.mapping.select.is_some() {
        return Ok(Vec::new());
    }
    let table = picked.sql(Engine::Postgres).table();
    let query = "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnotnull";
    lent.client().query(query, &[&table]).await?.iter().map(|row| value_at(row, 0)).collect()
}

/// A schema that this role may not use is left out of the path that tables are looked for in: a table in it is there.
async fn check_usable(inner: &Inner, lent: &Lent, elsewhere: &[Table]) -> Result<(), SourceFault> {
    let query = "SELECT has_schema_privilege($1::text, 'USAGE')";
    for table in elsewhere {
        let row = lent.client().query_one(query, &[&table.schema]).await;
        let may_use: bool =
            row.and_then(|row| value_at(&row, 0)).map_err(|fault| inner.place.fault(&fault))?;
        if !may_use {
            let (schema, table) = (clean(&table.schema), clean(&table.name));
            return Err(inner.place.fault_of(
                SourceFaultKind::Unreachable,
                &format!("the role lacks a right (USAGE on schema `{schema}`, which has a table `{table}`)"),
                "GRANT it: USAGE on the schema, SELECT on the tables to look, and UPDATE, DELETE or INSERT to decide.",
            ));
        }
    }
    Ok(())
}

/// Tables with row-level security that counts for this role: whether any policy lets it see rows.
const HIDDEN: &str = "
SELECT c.relname, EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd IN ('r', '*')
                           AND (p.polroles = '{0}' OR EXISTS (SELECT 1 FROM unnest(p.polroles) AS r(oid)
                                                              WHERE pg_has_role(r.oid, 'MEMBER'))))
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname = ANY ($1::text[]) AND n.nspname = ANY ($2::text[]) AND row_security_active(c.oid)";

/// Row-level security hides rows without a word: "nothing found" would then prove nothing.
async fn check_hidden(
    inner: &Inner,
    lent: &Lent,
    mapping: &Mapping,
    there: &[Table],
) -> Result<(), SourceFault> {
    let place = &inner.place;
    for (table, has_policy) in hidden(lent, mapping, there).await.map_err(|fault| place.fault(&fault))? {
        let name = clean(&table);
        let what = if !has_policy {
            format!("row-level security hides every row of `{name}` from this role")
        } else if shows_nothing(lent, mapping, &table).await.map_err(|fault| place.fault(&fault))? {
            format!("row-level security shows this role no row of `{name}`, which holds some")
        } else {
            continue;
        };
        return Err(place.fault_of(
            SourceFaultKind::Unreachable,
            &what,
            "Connect as the table's owner or a role with BYPASSRLS, or CREATE POLICY for this one.",
        ));
    }
    Ok(())
}

/// Whether a table takes room on the disk and shows no row. (One that was emptied takes room until it is vacuumed.)
async fn shows_nothing(lent: &Lent, mapping: &Mapping, table: &str) -> Result<bool, Error> {
    let schema = mapping.schema.as_ref().map(|schema| quoted(Engine::Postgres, schema) + ".");
    let name = schema.unwrap_or_default() + &quoted(Engine::Postgres, table);
    let query =
        format!("SELECT pg_relation_size($1::text::regclass) > 0 AND NOT EXISTS (SELECT 1 FROM {name})");
    value_at(&lent.client().query_one(&query, &[&name]).await?, 0)
}

/// The tables whose rows this role may not see all of, each with whether a policy lets it see some.
pub(super) async fn hidden(
    lent: &Lent,
    mapping: &Mapping,
    there: &[Table],
) -> Result<Vec<(String, bool)>, Error> {
    let schemas: Vec<&str> = there.iter().map(|table| table.schema.as_str()).collect();
    // Only those that are read: a preset may look at others only to tell its shapes apart.
    let is_read = |name: &str| {
        name == mapping.table || mapping.select.as_ref().is_some_and(|select| select.contains(name))
    };
    let names: Vec<&str> =
        there.iter().map(|table| table.name.as_str()).filter(|name| is_read(name)).collect();
    let rows = lent.client().query(HIDDEN, &[&names, &schemas]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}
