//! Templates over an item's fields: `charge-{{ key }}`, `{{ payload.order.id }}`.

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fields a template may use, by name.
pub type Fields = BTreeMap<String, Value>;

/// How many steps a template may take: presets are data, and data does not loop.
const FUEL_STEPS: u64 = 10_000;
const NAME: &str = "template";
/// How long an expression may be, how deep its brackets may stand in each other, and how many blocks there may be: the
/// parser calls itself for each level and each sign, and a stack that overflows ends the whole program.
const EXPRESSION_BYTES_MAX: usize = 200;
const DEPTH_MAX: usize = 20;

/// A parsed template. A field that is missing or NULL is an error, never an empty text: a question for an empty
/// reference would find nothing, and that nothing would be false.
#[derive(Debug, Clone)]
pub struct Template {
    environment: Arc<Environment<'static>>,
    source: Arc<str>,
    plain: bool,
    /// The field, where the template is nothing but one: most are, and a scan fills one in for each finding.
    only_field: Option<String>,
    uses_payload: bool,
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Template {}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A sentence saying where it is wrong.
    pub fn parse(source: &str) -> Result<Self, String> {
        let plain = !source.contains(['{', '}']);
        if !plain && (longest_expression(source) > EXPRESSION_BYTES_MAX || depth(source) > DEPTH_MAX) {
            return Err(format!(
                "the template `{}` has an expression of more than {EXPRESSION_BYTES_MAX} bytes, or more than {DEPTH_MAX} \
                 brackets in each other",
                crate::domain::text::clean_cut(source, 80)
            ));
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_fuel(Some(FUEL_STEPS));
        environment
            .add_template_owned(NAME, source.to_owned())
            .map_err(|fault| format!("the template `{source}` cannot be read: {fault}"))?;
        let used = environment
            .get_template(NAME)
            .map(|template| template.undeclared_variables(false))
            .unwrap_or_default();
        Ok(Self {
            environment: Arc::new(environment),
            source: source.into(),
            plain,
            only_field: only_field(source),
            uses_payload: used.contains("payload"),
        })
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it needs the item's payload.
    pub fn uses_payload(&self) -> bool {
        self.uses_payload
    }

    /// Every name that it uses, without what stands within it (`vars` for `vars.account`).
    pub fn names(&self) -> Vec<String> {
        let used = self.environment.get_template(NAME).map(|template| template.undeclared_variables(false));
        used.map(|names| names.into_iter().collect()).unwrap_or_default()
    }

    /// Whether it is the item's key and nothing else: then no fields have to be gathered.
    pub fn is_key(&self) -> bool {
        self.only_field.as_deref() == Some("key")
    }

    /// Fills it in.
    ///
    /// # Errors
    /// A sentence naming the field that is missing.
    pub fn render(&self, fields: &Fields) -> Result<String, String> {
        if self.plain {
            return Ok(self.source.to_string());
        }
        if let Some(text) = self.only_field.as_ref().and_then(|name| fields.get(name)?.as_str()) {
            return Ok(text.to_owned());
        }
        self.environment
            .get_template(NAME)
            .and_then(|template| template.render(fields))
            .map_err(|fault| format!("`{}` cannot be filled in: {}", self.source, root_of(&fault)))
    }
}

/// The length of the longest `{{ … }}` or `{% … %}`; one that is never closed goes to the end.
fn longest_expression(source: &str) -> usize {
    let (mut rest, mut longest) = (source, 0);
    while let Some(begin) = ["{{", "{%"].iter().filter_map(|open| rest.find(open)).min() {
        let inside = &rest[begin + 2..];
        let end = expression_end(inside);
        longest = longest.max(end);
        rest = &inside[end..];
    }
    longest
}

/// Where an expression ends: at its closing sign, outside of quotes.
fn expression_end(inside: &str) -> usize {
    let (mut quote, mut escaped, mut before) = (None, false, b' ');
    for (at, byte) in inside.bytes().enumerate() {
        match quote {
            Some(open) => {
                if byte == open && !escaped {
                    quote = None;
                }
                escaped = byte == b'\\' && !escaped;
            }
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None if byte == b'}' && matches!(before, b'}' | b'%') => return at,
            None => {}
        }
        before = byte;
    }
    inside.len()
}

/// How deep brackets and blocks stand in each other at most; one that is never closed counts to the end.
fn depth(source: &str) -> usize {
    let blocks = source.matches("{%").count();
    let (mut now, mut most) = (0_usize, 0);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => now += 1,
            b')' | b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most.max(blocks)
}

/// The name in `{{ name }}`, where a template is nothing else.
fn only_field(source: &str) -> Option<String> {
    let name = source.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| name.to_owned())
}

fn root_of(fault: &minijinja::Error) -> String {
    let detail = fault.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
    match fault.kind() {
        minijinja::ErrorKind::UndefinedError => format!("a field it uses is missing or empty{detail}"),
        kind => format!("{kind}{detail}"),
    }
}

/// JSON as template values: a number is its text, digit for digit, and null is left out so that using it is an error.
pub fn json_value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::UNDEFINED,
        serde_json::Value::Bool(truth) => Value::from(*truth),
        serde_json::Value::Number(number) => Value::from(number.to_string()),
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(values) => Value::from(values.iter().map(json_value).collect::<Vec<_>>()),
        serde_json::Value::Object(fields) => fields
            .iter()
            .filter(|(_, inner)| !inner.is_null())
            .map(|(name, inner)| (name.clone(), json_value(inner)))
            .collect::<BTreeMap<_, _>>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn fields() -> Fields {
        let payload =
            serde_json::from_str(r#"{"id":1970670598291982290,"amount":10.10,"none":null}"#).unwrap();
        Fields::from([("key".to_owned(), Value::from("inv-1")), ("payload".to_owned(), json_value(&payload))])
    }

    #[rstest]
    #[case("{{ key }}", "inv-1")]
    #[case("charge-{{ key }}", "charge-inv-1")]
    #[case("{{ payload.id }}/{{ payload.amount }}", "1970670598291982290/10.10")]
    #[case("fixed", "fixed")]
    #[case("{{ key | upper }}", "INV-1")]
    fn fields_are_filled_in_digit_for_digit(#[case] source: &str, #[case] expected: &str) {
        assert_eq!(Template::parse(source).unwrap().render(&fields()).unwrap(), expected);
    }

    #[rstest]
    #[case("{{ order }}")]
    #[case("{{ payload.none }}")]
    #[case("{{ payload.other }}")]
    fn a_missing_field_is_an_error_never_an_empty_text(#[case] source: &str) {
        let fault = Template::parse(source).unwrap().render(&fields()).unwrap_err();
        assert!(fault.contains("missing or empty"), "{fault}");
    }

    #[test]
    fn endless_templates_run_out_of_fuel() {
        let template =
            Template::parse("{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}");
        assert!(template.unwrap().render(&fields()).is_err());
    }

    #[rstest]
    #[case::brackets(format!("{{{{ {}key{} }}}}", "(".repeat(99), ")".repeat(99)))]
    #[case::signs(format!("{{{{ {}1 }}}}", "-".repeat(5_000)))]
    #[case::filters(format!("{{{{ key{} }}}}", "|upper".repeat(2_000)))]
    #[case::quotes(format!("{{{{ '}}}}' ~ {}1 }}}}", "-".repeat(5_000)))]
    #[case::blocks(format!("{}x{}", "{% if key %}".repeat(99), "{% endif %}".repeat(99)))]
    fn a_template_that_would_overflow_the_stack_is_refused(#[case] source: String) {
        assert!(Template::parse(&source).unwrap_err().contains("brackets in each other"));
    }

    #[test]
    fn a_long_text_around_short_expressions_is_fine() {
        let source = format!("{}{{{{ key }}}} - {{{{ '}}' }}}}", "text \"- ".repeat(1_000));
        assert!(Template::parse(&source).unwrap().render(&fields()).unwrap().ends_with("inv-1 - }"));
    }

    #[test]
    fn the_payload_is_needed_only_where_it_is_used() {
        assert!(Template::parse("{{ payload.id }}").unwrap().uses_payload());
        assert!(!Template::parse("{{ key }}").unwrap().uses_payload());
    }
}
