//! Decides which token a server gets: a variable of the environment never reaches a server that it does not belong to.

use super::host::KnownServer;

/// The server that a variable such as `GITLAB_HOST` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostVariable {
    Unset,
    Server(KnownServer),
    /// The variable is set, but not to a server.
    Invalid,
}

/// The known facts about the tokens for a server.
#[derive(Clone, Debug)]
pub struct TokenFacts<'a> {
    /// The server that needs a token.
    pub server: &'a KnownServer,
    /// Whether `--host` names it.
    pub is_named: bool,
    /// Whether there is a `--token-file`, which is always for `server`.
    pub has_option: bool,
    pub labscope_token: bool,
    pub gitlab_token: bool,
    pub labscope_host: HostVariable,
    pub gitlab_host: HostVariable,
    /// The server that the variables belong to if none of them names one.
    pub default: Option<KnownServer>,
    /// Whether the server has a token of its own: from its `token_file`, `labscope auth login` or glab.
    pub has_own: bool,
}

/// The source of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `--token-file`.
    Option,
    /// An environment variable.
    Variable(&'static str),
    /// The server's own token.
    Own,
    /// There is no token for the server, though there may be one for another.
    Nothing(Option<Withheld>),
}

/// A token of the environment that is not for the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The variable with the token.
    pub variable: &'static str,
    /// The server that it belongs to, if that is known.
    pub owner: Option<KnownServer>,
}

/// Chooses the source of a server's token.
///
/// | | source | if |
/// |---|---|---|
/// | 1 | `--token-file` | it is given |
/// | 2 | `LABSCOPE_TOKEN` | it belongs to the server: `LABSCOPE_HOST` names it, else `GITLAB_HOST`, else it is the default |
/// | 3 | `GITLAB_TOKEN` | it belongs to the server: `GITLAB_HOST` names it, else `LABSCOPE_HOST`, else it is the default |
/// | 4 | the server's own token | it has one |
/// | 5 | `LABSCOPE_TOKEN`, then `GITLAB_TOKEN` | it belongs to no server, and `--host` names this one |
pub fn choose(facts: &TokenFacts) -> Source {
    if facts.has_option {
        return Source::Option;
    }
    let variables = [
        ("LABSCOPE_TOKEN", facts.labscope_token, [&facts.labscope_host, &facts.gitlab_host]),
        ("GITLAB_TOKEN", facts.gitlab_token, [&facts.gitlab_host, &facts.labscope_host]),
    ];
    let owned = variables
        .into_iter()
        .filter(|(_, is_set, _)| *is_set)
        .map(|(name, _, hosts)| (name, hosts.into_iter().find(|host| **host != HostVariable::Unset)))
        .map(|(name, host)| match host {
            Some(HostVariable::Server(server)) => (name, Some(server), false),
            Some(_) => (name, None, false),
            None => (name, facts.default.as_ref(), facts.default.is_none()),
        });
    let owned: Vec<_> = owned.collect();
    if let Some((name, ..)) = owned.iter().find(|(_, owner, _)| *owner == Some(facts.server)) {
        return Source::Variable(name);
    }
    if facts.has_own {
        return Source::Own;
    }
    if let Some((name, ..)) = owned.iter().find(|(.., is_free)| *is_free && facts.is_named) {
        return Source::Variable(name);
    }
    Source::Nothing(owned.first().map(|(variable, owner, _)| Withheld { variable, owner: owner.cloned() }))
}

impl Withheld {
    /// Returns why the token is not sent to `server`, and what to do.
    pub fn message(&self, server: &KnownServer) -> String {
        let Withheld { variable, owner } = self;
        let name = server.host();
        let name = name.name();
        let because = match owner {
            Some(owner) => format!("{variable} is for {}", owner.host().name()),
            None => format!("it is unknown which server {variable} is for"),
        };
        let option = server.option();
        format!(
            "no token for {name}: {because}. Set LABSCOPE_HOST={option} to use it, or labscope auth login --host {option}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "https://a.example/";
    const B: &str = "https://b.example/";

    fn server(url: &str) -> KnownServer {
        KnownServer { url: url.parse().expect("an address"), table: None, account: None }
    }

    fn host(name: &str) -> HostVariable {
        match name {
            "" => HostVariable::Unset,
            "?" => HostVariable::Invalid,
            url => HostVariable::Server(server(url)),
        }
    }

    #[test]
    fn a_token_of_the_environment_is_only_for_the_server_that_it_belongs_to() {
        let (labscope, gitlab) = (Source::Variable("LABSCOPE_TOKEN"), Source::Variable("GITLAB_TOKEN"));
        let not = |variable, owner: &str| {
            let owner = Some(owner).filter(|owner| !owner.is_empty()).map(server);
            Source::Nothing(Some(Withheld { variable, owner }))
        };
        // Tokens set (L, G), LABSCOPE_HOST, GITLAB_HOST, the default, whether the server A has its own token, and is named.
        for (set, labscope_host, gitlab_host, default, has_own, is_named, expected) in [
            // The default owns both variables.
            ("LG", "", "", A, true, false, labscope.clone()),
            ("G", "", "", A, true, false, gitlab.clone()),
            ("G", "", "", B, true, false, Source::Own),
            ("G", "", "", B, true, true, Source::Own),
            ("G", "", "", B, false, false, not("GITLAB_TOKEN", B)),
            ("L", "", "", B, false, true, not("LABSCOPE_TOKEN", B)),
            // A variable that names a server takes them from the default.
            ("G", "", A, B, true, false, gitlab.clone()),
            ("G", A, "", B, true, false, gitlab.clone()),
            ("L", "", A, B, true, false, labscope.clone()),
            ("G", "", B, A, true, false, Source::Own),
            ("G", "", B, A, false, true, not("GITLAB_TOKEN", B)),
            ("L", B, "", A, true, false, Source::Own),
            ("L", "", B, A, false, false, not("LABSCOPE_TOKEN", B)),
            // Each token belongs to the host of its own name first.
            ("LG", A, B, "", true, false, labscope.clone()),
            ("LG", B, A, "", true, false, gitlab.clone()),
            ("G", A, B, A, false, true, not("GITLAB_TOKEN", B)),
            // A host that is invalid is not this one.
            ("G", "", "?", A, true, false, Source::Own),
            ("L", "?", A, A, false, true, not("LABSCOPE_TOKEN", "")),
            // Without an owner, only --host says that the token is for this server.
            ("LG", "", "", "", false, true, labscope),
            ("G", "", "", "", false, true, gitlab),
            ("G", "", "", "", true, true, Source::Own),
            ("G", "", "", "", false, false, not("GITLAB_TOKEN", "")),
            ("", "", "", A, true, false, Source::Own),
            ("", A, A, A, false, true, Source::Nothing(None)),
        ] {
            let here = server(A);
            let facts = TokenFacts {
                server: &here,
                is_named,
                has_option: false,
                labscope_token: set.contains('L'),
                gitlab_token: set.contains('G'),
                labscope_host: host(labscope_host),
                gitlab_host: host(gitlab_host),
                default: Some(default).filter(|default| !default.is_empty()).map(server),
                has_own,
            };
            let case = format!("{set:?} {labscope_host:?} {gitlab_host:?} {default:?} {has_own} {is_named}");
            assert_eq!(choose(&facts), expected, "{case}");
            assert_eq!(choose(&TokenFacts { has_option: true, ..facts }), Source::Option, "{case}");
        }
    }

    #[test]
    fn accounts_of_one_server_do_not_share_a_token() {
        let account = KnownServer { table: Some("two".into()), account: Some("two".into()), ..server(A) };
        let facts = TokenFacts {
            server: &account,
            is_named: true,
            has_option: false,
            labscope_token: true,
            gitlab_token: true,
            labscope_host: HostVariable::Unset,
            gitlab_host: host(A),
            default: Some(server(A)),
            has_own: false,
        };
        let Source::Nothing(Some(withheld)) = choose(&facts) else { panic!("not for this account") };
        let message = withheld.message(&account);
        assert!(message.starts_with("no token for a.example (two): LABSCOPE_TOKEN is for a.example. "), "{message}");
    }
}
