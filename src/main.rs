//! Arguments -> one call -> exit code.

use clap::Parser;
use std::io::Write;
use std::num::NonZero;
use std::process::ExitCode;
use unstuck::commands::arguments::Arguments;
use unstuck::commands::failure::{Exit, Failure};
use unstuck::{adapters, commands};

/// How many processors sort out findings at most: each keeps its own memory of the error rules.
const SORTERS_MAX: usize = 2;

fn main() -> ExitCode {
    let ended = match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(fault) => commands::wrong_call::ended(&fault),
    };
    let exit = match ended {
        Ok(exit) => exit,
        Err(failure) => {
            if failure.exit != Exit::Fine {
                // Not `eprintln!`: it panics where the terminal is gone, and nobody is there to be told.
                let _closed_output = writeln!(std::io::stderr(), "{failure}");
            }
            failure.exit
        }
    };
    ExitCode::from(exit.code())
}

fn run(arguments: Arguments) -> Result<Exit, Failure> {
    adapters::http::install_tls();
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    // Where no such threads can be had, rayon makes its own as soon as it is asked.
    let _made_later = rayon::ThreadPoolBuilder::new().num_threads(processors.min(SORTERS_MAX)).build_global();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|fault| {
            Failure::new(Exit::Unreachable, format!("no threads can be had ({fault})"), "Free some memory.")
        })
        .and_then(|runtime| runtime.block_on(commands::run(arguments)))
}
