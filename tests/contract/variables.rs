//! CI/CD variables of projects, groups and the instance.

use crate::sample::word;
use labscope::api::VariableOwner;
use labscope::api::variables::*;

fn project() -> VariableOwner {
    VariableOwner::Project("acme/ui".into())
}

fn group() -> VariableOwner {
    VariableOwner::Group("acme/ui".into())
}

fn instance() -> VariableOwner {
    VariableOwner::Instance
}

fn production() -> Option<VariableFilter> {
    Some(VariableFilter { environment_scope: word("production") })
}

requests! {
    ListVariables { owner: project() } => "GET /projects/acme%2Fui/variables";
    ListVariables { owner: group() } => "GET /groups/acme%2Fui/variables";
    ListVariables { owner: instance() } => "GET /admin/ci/variables";
    GetVariable { owner: project(), key: "A".into(), filter: production() }
        => "GET /projects/acme%2Fui/variables/A?filter[environment_scope]=production";
    GetVariable { owner: group(), key: "A".into(), filter: production() }
        => "GET /groups/acme%2Fui/variables/A?filter[environment_scope]=production";
    GetVariable { owner: instance(), key: "A".into(), filter: None } => "GET /admin/ci/variables/A";
    CreateVariable {
        owner: project(),
        key: "A".into(),
        value: "x\ny".into(),
        variable_type: word("file"),
        protected: Some(true),
        masked: Some(true),
        masked_and_hidden: Some(true),
        raw: Some(true),
        environment_scope: word("review/*"),
        description: word("d"),
    } => "POST /projects/acme%2Fui/variables | description=d&environment_scope=review/*&key=A&masked=true&masked_and_hidden=true&protected=true&raw=true&value=x\ny&variable_type=file";
    CreateVariable {
        owner: group(),
        key: "A".into(),
        value: "".into(),
        variable_type: None,
        protected: None,
        masked: None,
        masked_and_hidden: None,
        raw: Some(false),
        environment_scope: None,
        description: None,
    } => "POST /groups/acme%2Fui/variables | key=A&raw=false&value=";
    CreateVariable {
        owner: instance(),
        key: "A".into(),
        value: "x".into(),
        variable_type: None,
        protected: None,
        masked: None,
        masked_and_hidden: None,
        raw: Some(false),
        environment_scope: None,
        description: None,
    } => "POST /admin/ci/variables | key=A&raw=false&value=x";
    UpdateVariable {
        owner: project(),
        key: "A".into(),
        value: Some("x".into()),
        variable_type: word("env_var"),
        protected: Some(false),
        masked: Some(false),
        raw: Some(false),
        environment_scope: word("*"),
        description: word(""),
        filter: production(),
    } => "PUT /projects/acme%2Fui/variables/A | description=&environment_scope=*&filter[environment_scope]=production&masked=false&protected=false&raw=false&value=x&variable_type=env_var";
    UpdateVariable {
        owner: group(),
        key: "A".into(),
        value: None,
        variable_type: None,
        protected: Some(true),
        masked: None,
        raw: None,
        environment_scope: None,
        description: None,
        filter: None,
    } => "PUT /groups/acme%2Fui/variables/A | protected=true";
    UpdateVariable {
        owner: instance(),
        key: "A".into(),
        value: None,
        variable_type: None,
        protected: Some(true),
        masked: None,
        raw: None,
        environment_scope: None,
        description: None,
        filter: None,
    } => "PUT /admin/ci/variables/A | protected=true";
    DeleteVariable { owner: project(), key: "A".into(), filter: production() }
        => "DELETE /projects/acme%2Fui/variables/A?filter[environment_scope]=production";
    DeleteVariable { owner: group(), key: "A".into(), filter: None } => "DELETE /groups/acme%2Fui/variables/A";
    DeleteVariable { owner: instance(), key: "A".into(), filter: None } => "DELETE /admin/ci/variables/A";
}

samples! {
    Variable => r##"{"variable_type": "env_var", "key": "STAGE", "value": "blue", "protected": false, "masked": false,
        "hidden": false, "raw": true, "environment_scope": "*", "description": null}"##;
}
