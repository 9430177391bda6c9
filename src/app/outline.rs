//! The outline of the file that is shown, for "go to anything".

use std::sync::Arc;
use store::{Canceled, Derive};
use ui::code::{self, Symbol, Text};

/// A file whose outline is computed.
#[derive(Clone)]
pub struct OutlinedFile {
    pub path: String,
    /// The SHA of the content.
    pub sha: String,
    pub text: Arc<Text>,
}

impl Derive for OutlinedFile {
    type Output = Vec<Symbol>;

    fn key(&self) -> String {
        format!("outline of {} {}", self.sha, self.path)
    }

    fn weight(&self, symbols: &Vec<Symbol>) -> usize {
        symbols.iter().map(|symbol| size_of::<Symbol>() + symbol.name.len()).sum()
    }

    fn run(&self, canceled: Canceled<'_>) -> Vec<Symbol> {
        code::outline(&self.text, &self.path, canceled)
    }
}
