//! What is known on the first run.

use super::LeadSetup;
use super::message::{Answers, KindAnswer, Needs, ProviderAnswer, ProviderOffer, Seen, SeenKind, Tried};
use crate::console::model::Notice;
use crate::console::theme::Theme;
use crate::domain::policy::Risk;
use ratatui::layout::Size;
use std::collections::BTreeMap;
use tui_input::Input;

/// The steps, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Where the databases are.
    Where,
    /// What is in them.
    Look,
    /// Who knows of each kind, and what a mistake costs.
    Ask,
    /// The text, and where it goes.
    Write,
}

impl Step {
    /// Its number, from 1 to 4.
    pub fn number(self) -> usize {
        match self {
            Self::Where => 1,
            Self::Look => 2,
            Self::Ask => 3,
            Self::Write => 4,
        }
    }
}

/// One page of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// Where the password of a database is, whose address is this.
    Password(String),
    /// A kind, by its place among them.
    Kind(usize),
}

/// One question of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// The variable with a database's password.
    Password,
    /// Who is asked.
    Provider,
    /// Where it is.
    Place,
    /// The variable with its secret.
    Secret,
    /// What its preset leaves to fill in, by name.
    Variable(String),
    /// What a wrong decision costs.
    Risk,
    /// What the provider knows the item by.
    Reference,
}

/// What a reference is until somebody says otherwise.
pub const USUAL_REFERENCE: &str = "{{ key }}";

/// What a provider's address and the variable with its secret are filled in with.
fn filled_in(offer: &ProviderOffer) -> (String, String) {
    match &offer.needs {
        Needs::BaseUrl(usual) => {
            let secret = format!("UNSTUCK_{}_TOKEN", offer.preset.to_uppercase());
            (usual.clone().unwrap_or_default(), if offer.takes_secret { secret } else { String::new() })
        }
        // Only a server's database has a password.
        Needs::Database => (String::new(), String::new()),
    }
}

/// One database that is looked into.
#[derive(Debug)]
pub struct Look {
    /// Its address, as it was picked.
    pub address: String,
    /// What was seen, with the kinds that are there; `None` while its answer is waited for.
    pub seen: Option<(Seen, Vec<SeenKind>)>,
}

/// What is answered of a kind.
#[derive(Debug)]
pub struct KindForm {
    /// The kind.
    pub seen: SeenKind,
    /// What was typed to find a provider.
    pub sought: Input,
    /// Which of those found is chosen.
    pub at: usize,
    /// What a wrong decision costs.
    pub risk: Risk,
    /// What the provider knows the item by.
    pub reference: Input,
    /// What that comes to with the first item; `None` while it is being tried.
    pub preview: Option<Tried>,
}

/// What is answered of a provider, once for all kinds that ask it.
#[derive(Debug, Default)]
pub struct ProviderForm {
    /// Its address, or its database's.
    pub place: Input,
    /// The variable with its secret.
    pub secret: Input,
    /// What its preset leaves to fill in.
    pub variables: BTreeMap<String, Input>,
}

/// Everything that is known on the first run.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any may hold beside any other"
)]
pub struct Lead {
    /// What it was started with.
    pub setup: LeadSetup,
    /// How it looks.
    pub theme: Theme,
    /// The terminal's size.
    pub size: Size,
    /// The step.
    pub step: Step,
    /// Which of the files are ticked.
    pub ticked: Vec<bool>,
    /// Addresses that were typed.
    pub added: Vec<String>,
    /// The field for one more.
    pub address: Input,
    /// Where the cursor is: files, then addresses, then the field.
    pub row: usize,
    /// What is looked into, each with what was seen of it; `None` while its answer is waited for.
    pub looks: Vec<Look>,
    /// What is answered of each kind.
    pub kinds: Vec<KindForm>,
    /// What is answered of each provider that was chosen, by preset.
    pub providers: BTreeMap<String, ProviderForm>,
    /// The variables with passwords, by address.
    pub passwords: BTreeMap<String, Input>,
    /// Which page of questions is shown.
    pub page: usize,
    /// Which of its questions has the keys.
    pub field: usize,
    /// Whether nothing was typed since the field that has the keys got them.
    pub is_fresh: bool,
    /// The text; `None` while it is being put together.
    pub text: Option<String>,
    /// Whether the program itself would refuse the text.
    pub is_refused: bool,
    /// Where the text goes.
    pub place: Input,
    /// Whether the field with the place has the keys.
    pub edits_place: bool,
    /// How far a text is scrolled.
    pub scroll: u16,
    /// Which task is the latest; answers to older ones are not heard.
    pub run: u64,
    /// Whether something is being looked into or written.
    pub is_busy: bool,
    /// What to say.
    pub notice: Option<Notice>,
}

impl Lead {
    /// The first step.
    pub fn new(setup: LeadSetup) -> Self {
        Self {
            theme: Theme::new(setup.no_color),
            size: setup.size,
            step: Step::Where,
            ticked: vec![false; setup.files.len()],
            added: Vec::new(),
            address: Input::default(),
            row: 0,
            looks: Vec::new(),
            kinds: Vec::new(),
            providers: BTreeMap::new(),
            passwords: BTreeMap::new(),
            page: 0,
            field: 0,
            is_fresh: true,
            text: None,
            is_refused: false,
            place: Input::new(setup.place.clone()),
            edits_place: false,
            scroll: 0,
            run: 0,
            is_busy: false,
            notice: None,
            setup,
        }
    }

    /// How many rows the first step has; the field is the last one.
    pub fn rows(&self) -> usize {
        self.setup.files.len() + self.added.len() + 1
    }

    /// Whether the field of the first step has the keys.
    pub fn is_on_address(&self) -> bool {
        self.row + 1 >= self.rows()
    }

    /// The addresses that are picked, in order.
    pub fn picked(&self) -> Vec<String> {
        let ticked = self.setup.files.iter().zip(&self.ticked).filter(|(_, ticked)| **ticked);
        ticked.map(|((_, address), _)| address.clone()).chain(self.added.iter().cloned()).collect()
    }

    /// Whether some database has a job system that is known.
    pub fn has_sources(&self) -> bool {
        self.seen().filter_map(|seen| seen.result.as_ref().ok()).any(|seen| !seen.systems.is_empty())
    }

    /// What was seen so far.
    pub fn seen(&self) -> impl Iterator<Item = &Seen> {
        self.looks.iter().filter_map(|look| look.seen.as_ref().map(|(seen, _)| seen))
    }

    /// What the text box that has the keys was filled with before anybody typed; `None` where it was left empty.
    pub fn offered(&self) -> Option<String> {
        if self.step == Step::Write {
            return Some(self.setup.place.clone());
        }
        let Some(Page::Kind(at)) = self.current_page().filter(|_| self.step == Step::Ask) else {
            return None;
        };
        match self.current_field()? {
            Field::Reference => Some(USUAL_REFERENCE.to_owned()),
            Field::Place => Some(filled_in(self.chosen(self.kinds.get(at)?)?).0),
            Field::Secret => Some(filled_in(self.chosen(self.kinds.get(at)?)?).1),
            Field::Password | Field::Provider | Field::Variable(_) | Field::Risk => None,
        }
    }

    /// The pages of questions.
    pub fn pages(&self) -> Vec<Page> {
        let passwords = self.passwords.keys().cloned().map(Page::Password);
        passwords.chain((0..self.kinds.len()).map(Page::Kind)).collect()
    }

    /// The page that is shown.
    pub fn current_page(&self) -> Option<Page> {
        self.pages().into_iter().nth(self.page)
    }

    /// The providers that fit what was typed for a kind; `None` is nobody.
    pub fn matches(&self, kind: &KindForm) -> Vec<Option<&ProviderOffer>> {
        let sought = kind.sought.value().to_lowercase();
        let words: Vec<&str> = sought.split_whitespace().collect();
        let fits = |offer: &&ProviderOffer| {
            let told = format!("{} {}", offer.check, offer.title).to_lowercase();
            words.iter().all(|word| told.contains(word))
        };
        let found = self.setup.providers.iter().filter(fits).map(Some);
        if words.is_empty() { [None].into_iter().chain(found).collect() } else { found.collect() }
    }

    /// Who is asked of a kind; `None` is nobody for now.
    pub fn chosen(&self, kind: &KindForm) -> Option<&ProviderOffer> {
        self.matches(kind).into_iter().nth(kind.at).flatten()
    }

    /// The questions of a page.
    pub fn fields(&self, page: &Page) -> Vec<Field> {
        let Page::Kind(at) = page else { return vec![Field::Password] };
        let offer = self.kinds.get(*at).and_then(|kind| self.chosen(kind));
        let mut fields = vec![Field::Provider];
        if let Some(offer) = offer {
            fields.push(Field::Place);
            if offer.takes_secret {
                fields.push(Field::Secret);
            }
            fields.extend(offer.variables.iter().map(|variable| Field::Variable(variable.name.clone())));
        }
        fields.extend([Field::Risk, Field::Reference]);
        fields
    }

    /// The question that has the keys.
    pub fn current_field(&self) -> Option<Field> {
        self.fields(&self.current_page()?).into_iter().nth(self.field)
    }

    /// The text box that has the keys; `None` where none has.
    pub fn input(&mut self) -> Option<&mut Input> {
        match self.step {
            Step::Where if self.is_on_address() => Some(&mut self.address),
            Step::Write if self.edits_place => Some(&mut self.place),
            Step::Where | Step::Look | Step::Write => None,
            Step::Ask => {
                let (page, field) = (self.current_page()?, self.current_field()?);
                let at = match page {
                    Page::Password(address) => return self.passwords.get_mut(&address),
                    Page::Kind(at) => at,
                };
                let preset = self.chosen(self.kinds.get(at)?).map(|offer| offer.preset.clone());
                let kind = self.kinds.get_mut(at)?;
                match field {
                    Field::Password | Field::Risk => None,
                    Field::Provider => Some(&mut kind.sought),
                    Field::Reference => Some(&mut kind.reference),
                    Field::Place => self.providers.get_mut(&preset?).map(|form| &mut form.place),
                    Field::Secret => self.providers.get_mut(&preset?).map(|form| &mut form.secret),
                    Field::Variable(name) => self.providers.get_mut(&preset?)?.variables.get_mut(&name),
                }
            }
        }
    }

    /// Makes the form of whoever is chosen for a kind, filled in as far as its preset knows.
    pub fn make_provider_form(&mut self, kind: usize) {
        let Some(offer) = self.kinds.get(kind).and_then(|kind| self.chosen(kind)).cloned() else { return };
        self.providers.entry(offer.preset.clone()).or_insert_with(|| {
            let (place, secret) = filled_in(&offer);
            ProviderForm {
                place: place.into(),
                secret: secret.into(),
                variables: offer
                    .variables
                    .iter()
                    .map(|variable| (variable.name.clone(), Input::default()))
                    .collect(),
            }
        });
    }

    /// What was answered.
    pub fn answers(&self) -> Answers {
        let filled = |input: &Input| Some(input.value().trim().to_owned()).filter(|text| !text.is_empty());
        let mut answers = Answers::default();
        for kind in &self.kinds {
            let offer = self.chosen(kind);
            let answer = KindAnswer {
                risk: kind.risk,
                check: offer.map(|offer| offer.check.clone()),
                reference: kind.reference.value().to_owned(),
            };
            answers.kinds.insert(kind.seen.name.clone(), answer);
            let Some((offer, form)) =
                offer.and_then(|offer| Some((offer, self.providers.get(&offer.preset)?)))
            else {
                continue;
            };
            let (base_url, database) = match &offer.needs {
                Needs::BaseUrl(usual) => {
                    (filled(&form.place).filter(|url| Some(url) != usual.as_ref()), None)
                }
                Needs::Database => (None, filled(&form.place)),
            };
            let variables =
                form.variables.iter().filter_map(|(name, input)| Some((name.clone(), filled(input)?)));
            let provider = ProviderAnswer {
                base_url,
                database,
                secret_env: offer.takes_secret.then(|| filled(&form.secret)).flatten(),
                variables: variables.collect(),
            };
            answers.providers.insert(offer.preset.clone(), provider);
        }
        let passwords = self.passwords.iter();
        answers.passwords =
            passwords.filter_map(|(address, input)| Some((address.clone(), filled(input)?))).collect();
        answers
    }
}
