//! A folder with charged and uncharged jobs, the provider that knows, and a console on them.

use super::reel::SIZE;
use crate::ledger::Ledger;
use crate::pty::terminal::{Start, Terminal};
use crate::world::{TABLES, World};
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use unstuck::adapters::system::SystemClock;
use unstuck::ports::clock::Clock;

/// The folder and its provider, as long as this lives.
pub struct Desk {
    pub world: World,
    pub ledger: Ledger,
    /// When its effects happened: a little before the jobs failed.
    pub charged_at: DateTime<Utc>,
}

impl Desk {
    /// Jobs with these keys failed two hours ago; `first` are further lines at the configuration's beginning.
    pub fn new(keys: &[&str], first: &str) -> Self {
        let charged_at = (SystemClock.now() - TimeDelta::minutes(121)).trunc_subsecs(0);
        let (world, ledger) = (World::new(), Ledger::that_lists(keys, charged_at.timestamp()));
        world.database("jobs.db", TABLES);
        world.write("config.toml", format!("{first}\n{}", ledger.configuration()));
        let desk = Self { world, ledger, charged_at };
        for key in keys {
            desk.sql(&failed(key));
        }
        desk
    }

    /// Somebody else writes to the jobs.
    pub fn sql(&self, statements: &str) {
        let jobs = rusqlite::Connection::open(self.world.path("jobs.db")).unwrap();
        jobs.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        jobs.execute_batch(statements).unwrap();
    }

    /// A console for somebody.
    pub fn console(&self, operator: &str) -> Terminal {
        console(&self.world, "config.toml", operator)
    }
}

/// A console on a folder's configuration.
pub fn console(world: &World, config: &str, operator: &str) -> Terminal {
    let config = world.path(config).display().to_string();
    Terminal::start(&Start {
        arguments: &format!("--config {config} --operator {operator}"),
        environment: &[("UNSTUCK_LEDGER_TOKEN", "sk_test_7")],
        size: SIZE,
        ..Start::default()
    })
}

/// A job that failed two hours ago.
pub fn failed(key: &str) -> String {
    format!(
        "INSERT INTO jobs SELECT '{key}', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';"
    )
}
