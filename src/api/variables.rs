//! CI/CD variables of projects, groups and the instance. Not in the specification, although servers of that version
//! have most of it.

use crate::input::InputError;
use crate::types::{Presence, Specified};
use crate::{InputKind, InputType, NoContent, Nullable};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The environment scope of a variable for all environments.
pub const ALL_ENVIRONMENTS: &str = "*";

/// A value that may be a secret, so it is not printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Specified for SecretText {}

impl InputType for SecretText {
    const KIND: InputKind = InputKind::Text;

    fn value(&self) -> Value {
        self.0.value()
    }

    fn read(value: &Value) -> Result<SecretText, InputError> {
        String::read(value).map(SecretText)
    }
}

impl From<&str> for SecretText {
    fn from(text: &str) -> SecretText {
        SecretText(text.to_owned())
    }
}

crate::resource! {
    /// A CI/CD variable.
    pub struct Variable {
        /// `env_var` or `file`.
        variable_type: String,
        key: String,
        /// The value; null forever if it is hidden.
        value: Option<SecretText>,
        protected: bool,
        masked: bool,
    }
    unspecified {
        /// Whether the server never returns the value (since 17.4).
        hidden: Option<bool>,
        /// Whether references to other variables in the value are kept as they are.
        raw: Option<bool>,
        /// The environments whose jobs get the variable; absent for those of the instance.
        environment_scope: Option<String>,
        description: Nullable<String>,
    }
}

impl Variable {
    /// Returns the environments whose jobs get the variable.
    pub fn scope(&self) -> &str {
        self.environment_scope.as_deref().unwrap_or(ALL_ENVIRONMENTS)
    }

    pub fn is_file(&self) -> bool {
        self.variable_type == "file"
    }

    pub fn is_hidden(&self) -> bool {
        self.hidden == Some(true)
    }

    /// Returns whether the server knows descriptions of variables.
    pub fn has_description(&self) -> bool {
        !self.description.is_absent()
    }
}

crate::input_object! {
    /// The input that tells variables with the same key apart.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct VariableFilter {
        pub environment_scope: Option<String>,
    }
}

crate::endpoints! {
    unspecified section "Variables";

    /// Lists the variables of a project, a group or the instance.
    GET "/variables" of owner: VariableOwner [project, group, instance] => Vec<Variable>, about Variables;
    struct ListVariables {}

    /// Gets a variable.
    GET "/variables/{key}" of owner: VariableOwner [project, group, instance] => Variable, about Variables;
    struct GetVariable {
        key: String,
        /// The environment scope, if several variables have the key.
        filter: Option<VariableFilter>,
    }

    /// Creates a variable.
    POST "/variables" of owner: VariableOwner [project, group, instance] => Variable,
    outdates [Variables];
    struct CreateVariable {
        key: String,
        value: SecretText,
        /// `env_var` (default) or `file`.
        variable_type: Option<String>,
        protected: Option<bool>,
        masked: Option<bool>,
        masked_and_hidden: Option<bool>,
        /// Whether references to other variables in the value are kept as they are. Servers differ in the default.
        raw: Option<bool>,
        environment_scope: Option<String>,
        description: Option<String>,
    }

    /// Changes a variable.
    PUT "/variables/{key}" of owner: VariableOwner [project, group, instance] => Variable,
    outdates [Variables];
    struct UpdateVariable {
        key: String,
        value: Option<SecretText>,
        variable_type: Option<String>,
        protected: Option<bool>,
        masked: Option<bool>,
        raw: Option<bool>,
        /// The new scope.
        environment_scope: Option<String>,
        description: Option<String>,
        /// The current environment scope, if several variables have the key.
        filter: Option<VariableFilter>,
    }

    /// Deletes a variable.
    DELETE "/variables/{key}" of owner: VariableOwner [project, group, instance] => NoContent,
    outdates [Variables];
    struct DeleteVariable {
        key: String,
        /// The environment scope, if several variables have the key.
        filter: Option<VariableFilter>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_printed() {
        let variable = Variable { key: "TOKEN".into(), value: Some("s3cret".into()), ..Variable::default() };
        let create = CreateVariable { key: "TOKEN".into(), value: "s3cret".into(), ..CreateVariable::default() };
        let update = UpdateVariable { value: Some("s3cret".into()), ..UpdateVariable::default() };
        for printed in [format!("{variable:?}"), format!("{create:?}"), format!("{update:?}")] {
            assert!(printed.contains("***") && !printed.contains("s3cret"), "{printed}");
        }
    }
}
