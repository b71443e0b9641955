//! What the sources of all engines share: the SQL that a mapping becomes, and what its rows become.

mod address;
mod broken_off;
mod decide;
pub mod decisions_table;
pub mod effects;
pub mod health;
pub mod key;
mod pages;
mod pick;
mod queries;
mod rows;
pub mod silence;
mod spell;
mod times;
mod to_its_end;

pub use address::Address;
pub use broken_off::is_broken_off;
pub use decide::{is_as_seen, plan};
pub use pages::whole_page;
pub use pick::{Known, Misfit, Picked, no_table, pick};
pub use rows::{Named, item_of, state_of};
pub use spell::{Column, Held, Sql, quoted};
pub use times::{older_sql, young_sql};
pub use to_its_end::to_its_end;
