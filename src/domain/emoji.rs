//! The names of emoji, as GitLab servers know them.
//!
//! A server knows the names of the Gemojione set of Unicode 9, with their aliases, and the names that Unicode gives to
//! all emoji, in snake case. Most of the former are shortcodes of the `emojis` crate; `assets/emoji.txt` lists the rest.

use emojis::SkinTone;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// An emoji.
#[derive(Debug, PartialEq, Eq)]
pub struct Emoji {
    /// The name that servers store, without colons.
    pub name: &'static str,
    /// The character or characters.
    pub sign: &'static str,
    /// Other names that find it.
    pub aliases: Vec<&'static str>,
}

struct Names {
    /// All emoji without skin tones, in the order of their names.
    emoji: Vec<Emoji>,
    /// The index of the emoji of each name and alias.
    index: HashMap<&'static str, usize>,
    /// The emoji with skin tones, by the index of the emoji without and the index in `TONES`.
    toned: HashMap<(usize, usize), Emoji>,
}

static NAMES: LazyLock<Names> = LazyLock::new(Names::read);

/// The skin tones, with the end of the names on servers and in Unicode.
const TONES: [(SkinTone, &str, &str); 5] = [
    (SkinTone::Light, "_tone1", "_light_skin_tone"),
    (SkinTone::MediumLight, "_tone2", "_medium_light_skin_tone"),
    (SkinTone::Medium, "_tone3", "_medium_skin_tone"),
    (SkinTone::MediumDark, "_tone4", "_medium_dark_skin_tone"),
    (SkinTone::Dark, "_tone5", "_dark_skin_tone"),
];

/// The first major version of Unicode whose emoji servers name as Unicode does, unless the list says otherwise.
const UNICODE_NAMES: u32 = 9;

impl Names {
    /// Combines the list and the crate. Names are never freed, because the table lives as long as the program.
    fn read() -> Names {
        let mut emoji: Vec<Emoji> = Vec::new();
        for line in include_str!("../../assets/emoji.txt").lines().filter(|line| !line.starts_with("# ")) {
            let mut words = line.split(' ');
            if let (Some(sign), Some(name)) = (words.next(), words.next()) {
                emoji.push(Emoji { name, sign, aliases: words.collect() });
            }
        }
        let listed: HashSet<&str> = emoji.iter().map(|one| one.sign).collect();
        let mut taken: HashSet<&str> =
            emoji.iter().flat_map(|one| one.aliases.iter().copied().chain([one.name])).collect();
        for one in emojis::iter().filter(|one| !listed.contains(one.as_str())) {
            let shortcode = one.shortcode().filter(|_| one.unicode_version().major() < UNICODE_NAMES);
            let name: &str = match region(one.as_str()) {
                Some(region) => format!("flag_{region}").leak(),
                None => shortcode.unwrap_or_else(|| snake_case(one.name()).leak()),
            };
            // Of two emoji with one name, servers know the listed one.
            if taken.insert(name) {
                emoji.push(Emoji { name, sign: one.as_str(), aliases: Vec::new() });
            }
        }
        emoji.sort_by_key(|one| one.name);
        for one in &mut emoji {
            if let Some(known) = emojis::get(one.sign) {
                let unicode: &str = snake_case(known.name()).leak();
                let region = region(one.sign).map(|region| &*region.leak());
                let aliases = known.shortcodes().chain([unicode]).chain(region);
                one.aliases.extend(aliases.filter(|alias| taken.insert(alias)));
            }
        }
        let mut names = Names { index: HashMap::new(), toned: HashMap::new(), emoji };
        for (at, one) in names.emoji.iter().enumerate() {
            names.index.extend(one.aliases.iter().copied().chain([one.name]).map(|name| (name, at)));
            for (tone, (skin, end, _)) in TONES.iter().enumerate() {
                if let Some(sign) = emojis::get(one.sign).and_then(|known| known.with_skin_tone(*skin)) {
                    let name = format!("{}{end}", one.name).leak();
                    let toned = Emoji { name, sign: sign.as_str(), aliases: Vec::new() };
                    names.toned.insert((at, tone), toned);
                }
            }
        }
        names
    }

    fn find(&self, name: &str) -> Option<&Emoji> {
        if let Some(at) = self.index.get(name) {
            return self.emoji.get(*at);
        }
        TONES.iter().enumerate().find_map(|(tone, (_, end, long_end))| {
            let base = name.strip_suffix(end).or_else(|| name.strip_suffix(long_end))?;
            self.toned.get(&(*self.index.get(base)?, tone))
        })
    }
}

/// Returns all emoji without skin tones, in the order of their names.
pub fn all() -> &'static [Emoji] {
    &NAMES.emoji
}

/// Returns the emoji of a name or an alias, without colons, with or without a skin tone (`wave_tone2`).
pub fn find(name: &str) -> Option<&'static Emoji> {
    NAMES.find(name)
}

/// Returns the emoji of a text that is only a name between colons: `:thumbsup:`.
pub fn find_alone(text: &str) -> Option<&'static Emoji> {
    find(text.trim().strip_prefix(':')?.strip_suffix(':')?)
}

impl Emoji {
    /// Returns whether the name or an alias has `part` in it.
    pub fn has_name_with(&self, part: &str) -> bool {
        self.name.contains(part) || self.aliases.iter().any(|alias| alias.contains(part))
    }
}

/// Returns the two letters of a flag's region: `fr`.
fn region(sign: &str) -> Option<String> {
    let letter = |c: char| char::from_u32((c as u32).checked_sub(0x1f1e6)? + u32::from(b'a'));
    let letters: String = sign.chars().map(|c| letter(c).filter(char::is_ascii_lowercase)).collect::<Option<_>>()?;
    (letters.len() == 2).then_some(letters)
}

/// Returns a name of Unicode as servers write it: `flag: St. Lucia` as `flag_st_lucia`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !matches!(c, '’' | '“' | '”' | '\'')) {
        match c {
            c if c.is_alphanumeric() => out.extend(c.to_lowercase()),
            _ if out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    out.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(name: &str) -> Option<&'static str> {
        find(name).map(|found| found.sign)
    }

    #[test]
    fn names_of_servers_win_over_others() {
        for (name, expected) in [
            ("tada", "🎉"),
            ("+1", "👍"),
            ("slight_smile", "🙂"),
            ("slightly_smiling_face", "🙂"),
            ("rolling_on_the_floor_laughing", "🤣"),
            ("cricket", "🏏"),
            ("beetle", "🐞"),
            ("umbrella", "☔"),
            ("umbrella2", "☂️"),
            ("melting_face", "🫠"),
            ("smiling_face_with_hearts", "🥰"),
            ("flag_fr", "🇫🇷"),
            ("fr", "🇫🇷"),
            ("flag_france", "🇫🇷"),
            ("cl", "🆑"),
            ("flag_cl", "🇨🇱"),
            ("chile", "🇨🇱"),
            ("congo", "🇨🇩"),
            ("fleur-de-lis", "⚜️"),
            ("e-mail", "📧"),
            ("family_mwgb", "👨‍👩‍👧‍👦"),
            ("thumbsup_tone2", "👍🏼"),
            ("+1_tone5", "👍🏿"),
            ("waving_hand_medium_dark_skin_tone", "👋🏾"),
            ("tone3", "🏽"),
            ("gay_pride_flag", "🏳️‍🌈"),
            ("100", "💯"),
            ("keycap_ten", "🔟"),
        ] {
            assert_eq!(sign(name), Some(expected), "{name}");
        }
        for unknown in ["", "_", "no_such_name", "zz", "flag_zz", "Tada", "tada ", "fire_tone1", "_tone1", "30"] {
            assert_eq!(sign(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn aliases_lead_to_the_name_that_servers_store() {
        for (alias, name) in [
            ("+1", "thumbsup"),
            ("-1_tone1", "thumbsdown_tone1"),
            ("face_with_rolling_eyes", "rolling_eyes"),
            ("hankey", "poop"),
            ("memo", "pencil"),
            ("us", "flag_us"),
            ("star_struck", "star_struck"),
            ("smiling_face_with_three_hearts", "smiling_face_with_hearts"),
        ] {
            assert_eq!(find(alias).map(|found| found.name), Some(name), "{alias}");
        }
        assert_eq!(find_alone(" :+1: ").map(|found| found.sign), Some("👍"));
        assert_eq!(find_alone("+1"), None);
    }

    #[test]
    fn every_emoji_is_found_by_its_name() {
        assert!(all().is_sorted_by(|a, b| a.name < b.name));
        assert!(all().len() > 1900, "{}", all().len());
        for one in all() {
            assert_eq!(find(one.name), Some(one));
            assert!(one.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+')), "{}", one.name);
        }
    }

    #[test]
    fn parts_of_aliases_find_the_name() {
        let names =
            |part: &str| all().iter().filter(|one| one.has_name_with(part)).map(|one| one.name).collect::<Vec<_>>();
        assert!(names("with_rolling").contains(&"rolling_eyes"));
        assert_eq!(names("hankey"), ["poop"]);
        assert_eq!(names("no_such"), [""; 0]);
    }
}
