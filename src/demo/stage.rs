//! The stage: a temporary folder with the incident and a configuration, and the provider beside it.

use super::incident::Incident;
use super::server::Server;
use crate::config::{ConfigFault, Settings, load};
use chrono::{DateTime, Utc};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const EXAMPLE: &str = include_str!("../../config.example.toml");
/// What the example says of the provider, and what the demo puts in its place.
const EXAMPLE_ADDRESS: &str = "http://127.0.0.1:8421";
const EXAMPLE_SECRET: &str = "secret_env = \"UNSTUCK_LEDGER_TOKEN\"";
const TOKEN: &str = "sk_test_demo_only";

/// An incident ready to be looked at. The folder goes with it.
#[derive(Debug)]
pub struct Stage {
    /// The folder that everything is in.
    pub folder: TempDir,
    /// The settings: the example's, with the demo's provider.
    pub settings: Settings,
    /// What really happened.
    pub incident: Arc<Incident>,
    /// The provider.
    pub server: Server,
}

impl Stage {
    /// Sets the stage.
    ///
    /// # Errors
    /// The temporary folder cannot be written, or no port is free.
    pub async fn set(seed: u64, items: u32, now: DateTime<Utc>) -> Result<Self, ConfigFault> {
        let fault =
            |what: String| ConfigFault::new(what, "Check the temporary folder ($TMPDIR) and its disk.");
        let io = |fault_: std::io::Error| fault(format!("the demo cannot be set up ({fault_})"));
        let folder = tempfile::Builder::new().prefix("unstuck-demo-").tempdir().map_err(io)?;
        let incident = Incident::make(&folder.path().join("jobs.db"), seed, items, now)
            .map_err(|sql| fault(format!("the demo's database cannot be made ({sql})")))?;
        let incident = Arc::new(incident);
        let server = Server::start(&incident, TOKEN.to_owned()).await.map_err(io)?;
        let settings = write_config(folder.path(), &server).map_err(io)?;
        let settings = load::load(&settings, folder.path().join("audit.db"))?;
        Ok(Self { folder, settings, incident, server })
    }
}

/// The shipped example with the demo's address and secret: what runs here is what users copy.
fn write_config(folder: &Path, server: &Server) -> std::io::Result<std::path::PathBuf> {
    std::fs::write(folder.join("token"), TOKEN)?;
    let text = EXAMPLE
        .replace(EXAMPLE_ADDRESS, &format!("http://{}", server.address))
        .replace(EXAMPLE_SECRET, "secret_file = \"token\"")
        .replace("pace_per_second = 50 ", "pace_per_second = 300");
    let path = folder.join("config.toml");
    std::fs::write(&path, text)?;
    Ok(path)
}
