//! One value, three spellings: text for people, JSON Lines for programs, CSV for sheets.

pub mod csv_rows;
pub mod duplicate_lines;
pub mod finding_line;
pub mod json;
pub mod metrics;
pub mod plan_lines;
pub mod reconciled;
pub mod report;
pub mod say;
pub mod story_lines;
pub mod table;

pub use finding_line::FindingLine;
