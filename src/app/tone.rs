//! The tone of a message.

use ui::theme::Role;

/// The tone of a message in the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Success.
    Good,
    /// Information.
    Info,
    /// A refusal: something cannot be done here.
    Warning,
    /// A failure.
    Bad,
}

impl Tone {
    /// Returns the role of a message in this tone.
    pub fn role(self) -> Role {
        match self {
            Tone::Good => Role::Success,
            Tone::Info => Role::Accent,
            Tone::Warning => Role::Warning,
            Tone::Bad => Role::Failed,
        }
    }
}
