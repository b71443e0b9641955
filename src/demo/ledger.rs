//! The provider's memory: what it really did.

use std::collections::HashMap;

/// One effect as the provider keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The provider's id.
    pub id: String,
    /// Our reference.
    pub reference: String,
    /// The provider's status.
    pub status: &'static str,
    /// Minor units; `None` for a message.
    pub amount: Option<i64>,
    /// When it came about, epoch seconds.
    pub created: i64,
    /// Whether lists show it already.
    pub is_visible: bool,
}

/// Which list of the provider an entry is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Book {
    /// Charges.
    Charges,
    /// Messages.
    Emails,
}

/// Everything the provider did, in order, findable by reference.
#[derive(Debug, Default)]
pub struct Ledger {
    charges: Vec<Entry>,
    emails: Vec<Entry>,
    by_reference: HashMap<(Book, String), Vec<usize>>,
}

impl Ledger {
    /// Does something: from now on it is there.
    pub fn add(
        &mut self,
        book: Book,
        reference: &str,
        status: &'static str,
        amount: Option<i64>,
        created: i64,
        is_visible: bool,
    ) {
        let (entries, prefix) = match book {
            Book::Charges => (&mut self.charges, "ch"),
            Book::Emails => (&mut self.emails, "em"),
        };
        let id = format!("{prefix}_{:06}", entries.len() + 1);
        self.by_reference.entry((book, reference.to_owned())).or_default().push(entries.len());
        entries.push(Entry { id, reference: reference.to_owned(), status, amount, created, is_visible });
    }

    /// Everything under a reference, shown or not: the truth.
    pub fn under(&self, book: Book, reference: &str) -> Vec<&Entry> {
        let places =
            self.by_reference.get(&(book, reference.to_owned())).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|at| self.book(book).get(*at)).collect()
    }

    /// What a list shows, the newest first.
    pub fn list(&self, book: Book, reference: Option<&str>) -> Vec<&Entry> {
        let mut shown: Vec<&Entry> = match reference {
            Some(reference) => self.under(book, reference),
            None => self.book(book).iter().collect(),
        };
        shown.retain(|entry| entry.is_visible);
        shown.reverse();
        shown
    }

    fn book(&self, book: Book) -> &[Entry] {
        match book {
            Book::Charges => &self.charges,
            Book::Emails => &self.emails,
        }
    }
}
