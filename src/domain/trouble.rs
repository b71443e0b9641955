//! What kind of trouble an error text tells of: for the question whether there was a time-out, a restart or a network error.

use crate::domain::error_class::ErrorTable;

/// A kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// Somebody waited, and no answer came in time.
    Timeout,
    /// The way to the other side broke.
    Network,
    /// Whoever ran it was ended.
    Restart,
    /// The other side said no: none of the three.
    Refusal,
    /// No rule knows the text, or there is none.
    NotKnown,
}

impl Trouble {
    /// How a person calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "time-out",
            Self::Network => "network error",
            Self::Restart => "restart",
            Self::Refusal => "refusal",
            Self::NotKnown => "error that no rule knows",
        }
    }

    /// Whether it is one that the question asks for.
    pub fn is_asked_for(self) -> bool {
        matches!(self, Self::Timeout | Self::Network | Self::Restart)
    }

    /// What only a run that was ended tells: rules that count more for what may have happened may know such a text too.
    const OF_A_RESTART: [&str; 5] = ["sigkill", "sigterm", "signal 9", "signal 15", "worker exited"];

    /// Reads it from an error text, by the rule that knows the text.
    pub fn of(errors: &ErrorTable, text: Option<&str>) -> Self {
        let lower = text.unwrap_or_default().to_lowercase();
        if Self::OF_A_RESTART.iter().any(|word| lower.contains(word)) {
            return Self::Restart;
        }
        match errors.classify(text).rule {
            Some(
                "read-timeout" | "timed-out" | "deadline" | "time-limit" | "connect-timeout" | "pool-timeout",
            ) => Self::Timeout,
            Some(
                "status-left-open" | "proxy" | "grpc-left-open" | "reset" | "broken-pipe" | "closed" | "eof"
                | "unreadable-answer" | "name-not-resolved" | "connection-refused" | "tls-handshake"
                | "not-connected" | "connect-failed",
            ) => Self::Network,
            Some("killed" | "interrupted" | "job-abandoned" | "out-of-memory" | "cancelled") => Self::Restart,
            Some(
                "card-declined" | "fraud-block" | "recipient-refused" | "status-turned-away" | "not-allowed"
                | "not-valid" | "rate-limited",
            ) => Self::Refusal,
            Some(_) | None => Self::NotKnown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::python("timed out", Trouble::Timeout)]
    #[case::requests(
        "HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=30)",
        Trouble::Timeout
    )]
    #[case::closed("Remote end closed connection without response", Trouble::Network)]
    #[case::gateway("HTTP Error 502: Bad Gateway", Trouble::Network)]
    #[case::unavailable("HTTP Error 503: Service Unavailable", Trouble::Network)]
    #[case::killed("Worker exited prematurely: signal 9 (SIGKILL)", Trouble::Restart)]
    #[case::declined("HTTP Error 402: Payment Required", Trouble::Refusal)]
    #[case::own("E4711 in module B", Trouble::NotKnown)]
    #[case::empty("", Trouble::NotKnown)]
    fn each_text_tells_its_trouble(#[case] text: &str, #[case] expected: Trouble) {
        let errors = ErrorTable::parse(include_str!("../../assets/errors.toml")).unwrap();
        assert_eq!(Trouble::of(&errors, Some(text)), expected);
    }

    /// The names of rules stand here and in the table: one that is renamed there must not fall silent here.
    #[test]
    fn every_rule_named_here_is_in_the_table() {
        let table = include_str!("../../assets/errors.toml");
        let source = include_str!("trouble.rs").split("#[cfg(test)]").next().unwrap();
        let body = source.split("fn of(").nth(1).unwrap();
        let names: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
        assert!(names.len() > 20);
        for name in names {
            assert!(table.contains(&format!("id = \"{name}\"")), "{name}");
        }
    }
}
