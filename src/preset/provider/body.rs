//! A JSON body whose texts are templates.
//!
//! It is written as a table, not as one text, so that a value can never add a field of its own.

use crate::preset::template::{Fields, Template};
use serde_json::{Map, Value};

/// A JSON value whose texts are templates.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyTemplate(Part);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(Template),
    Fixed(Value),
    List(Vec<Part>),
    Object(Vec<(String, Part)>),
}

impl BodyTemplate {
    /// Reads a body from a TOML table.
    ///
    /// # Errors
    /// A sentence naming the text that is no template, or the value that JSON does not have.
    pub fn parse(table: &toml::Table) -> Result<Self, String> {
        Part::object(table).map(Self)
    }

    /// Fills it in.
    ///
    /// # Errors
    /// A sentence naming the field that is missing.
    pub fn render(&self, fields: &Fields) -> Result<Value, String> {
        self.0.render(fields)
    }

    /// Every name that its templates use.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.0.collect_names(&mut names);
        names
    }

    /// Whether one of its templates contains this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.0.mentions(text)
    }
}

impl Part {
    fn object(table: &toml::Table) -> Result<Self, String> {
        let fields = table.iter().map(|(name, value)| Ok((name.clone(), Self::parse(value)?)));
        Ok(Self::Object(fields.collect::<Result<_, String>>()?))
    }

    fn parse(value: &toml::Value) -> Result<Self, String> {
        Ok(match value {
            toml::Value::String(text) => Self::Text(Template::parse(text)?),
            toml::Value::Array(values) => {
                Self::List(values.iter().map(Self::parse).collect::<Result<_, _>>()?)
            }
            toml::Value::Table(table) => Self::object(table)?,
            other => Self::Fixed(plain_value(other)?),
        })
    }

    fn render(&self, fields: &Fields) -> Result<Value, String> {
        Ok(match self {
            Self::Text(template) => Value::String(template.render(fields)?),
            Self::Fixed(value) => value.clone(),
            Self::List(parts) => {
                Value::Array(parts.iter().map(|part| part.render(fields)).collect::<Result<_, _>>()?)
            }
            Self::Object(parts) => {
                let rendered = parts.iter().map(|(name, part)| Ok((name.clone(), part.render(fields)?)));
                Value::Object(rendered.collect::<Result<Map<_, _>, String>>()?)
            }
        })
    }

    fn collect_names(&self, names: &mut Vec<String>) {
        match self {
            Self::Text(template) => names.extend(template.names()),
            Self::Fixed(_) => {}
            Self::List(parts) => parts.iter().for_each(|part| part.collect_names(names)),
            Self::Object(parts) => parts.iter().for_each(|(_, part)| part.collect_names(names)),
        }
    }

    fn mentions(&self, text: &str) -> bool {
        match self {
            Self::Text(template) => template.source().contains(text),
            Self::Fixed(_) => false,
            Self::List(parts) => parts.iter().any(|part| part.mentions(text)),
            Self::Object(parts) => parts.iter().any(|(_, part)| part.mentions(text)),
        }
    }
}

/// A TOML value as JSON, where JSON has it.
///
/// # Errors
/// A sentence, for dates and for numbers that are not finite.
pub(super) fn plain_value(value: &toml::Value) -> Result<Value, String> {
    match value {
        toml::Value::String(text) => Ok(Value::from(text.as_str())),
        toml::Value::Integer(number) => Ok(Value::from(*number)),
        toml::Value::Boolean(truth) => Ok(Value::from(*truth)),
        toml::Value::Float(number) => serde_json::Number::from_f64(*number)
            .map(Value::Number)
            .ok_or_else(|| format!("{number} is not a number that JSON has")),
        toml::Value::Datetime(at) => Err(format!("{at} must be written as text, in quotes")),
        toml::Value::Array(_) | toml::Value::Table(_) => Err("a list or table does not fit here".to_owned()),
    }
}
