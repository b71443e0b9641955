//! A kind with its policy and its templates.

use crate::domain::policy::Policy;
use crate::preset::template::Template;
use std::sync::Arc;

/// A kind's policy with its templates parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The policy.
    pub policy: Policy,
    /// What the provider knows the item by.
    pub reference: Template,
    /// The idempotency key that the workers send; `None` where they send none.
    pub idempotency_key: Option<Template>,
    /// The amount the job asked for; `None` where it is not compared.
    pub amount: Option<Template>,
    /// The currency the job asked for.
    pub currency: Option<Template>,
}

impl Kind {
    /// A kind from its policy.
    ///
    /// # Errors
    /// A sentence naming the template that cannot be read.
    pub fn new(policy: Policy) -> Result<Self, String> {
        let optional = |source: &Option<Arc<str>>| source.as_deref().map(Template::parse).transpose();
        Ok(Self {
            reference: Template::parse(&policy.reference)?,
            idempotency_key: optional(&policy.idempotency_key)?,
            amount: optional(&policy.amount)?,
            currency: optional(&policy.currency)?,
            policy,
        })
    }

    /// Whether any of its templates needs the payload.
    pub fn uses_payload(&self) -> bool {
        [Some(&self.reference), self.idempotency_key.as_ref(), self.amount.as_ref(), self.currency.as_ref()]
            .into_iter()
            .flatten()
            .any(Template::uses_payload)
    }
}
