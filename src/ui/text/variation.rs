//! Variation selectors: invisible characters that choose the look of the character before them. Where that character has
//! no such look, a selector can only hide data.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns whether a character selects the look of the one before it.
pub fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}')
}

/// Returns whether Unicode defines variants of `base` that `selector` can choose from: text and emoji, ideographs,
/// Mongolian letters, and the scripts and symbols with standardized variants.
pub fn has_variant(base: char, selector: char) -> bool {
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => is_text_or_emoji(base),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(base, '\u{1820}'..='\u{18aa}'),
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(base),
        '\u{fe00}'..='\u{fe02}' if is_ideograph(base) => true,
        '\u{fe00}' | '\u{fe01}' if is_fullwidth_punctuation(base) => true,
        '\u{fe00}' if has_standard_variant(base) => true,
        // Rotated hieroglyphs.
        '\u{fe00}'..='\u{fe06}' => matches!(base, '\u{13000}'..='\u{143fa}'),
        _ => false,
    }
}

/// Returns whether a character can be drawn as text and as an emoji: it then changes its width with a selector, except
/// for a few that are always wide.
fn is_text_or_emoji(base: char) -> bool {
    let width = |selector: char| [base, selector].iter().collect::<String>().width();
    match base {
        '#' | '*' | '0'..='9' | '〰' | '〽' | '㊗' | '㊙' | '🈂' | '🈚' | '🈯' | '🈷' => true,
        _ => match base.width() {
            Some(1) => width('\u{fe0f}') == 2,
            Some(2) => width('\u{fe0e}') == 1,
            _ => false,
        },
    }
}

fn is_ideograph(base: char) -> bool {
    matches!(base, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
}

fn is_fullwidth_punctuation(base: char) -> bool {
    matches!(base, '、' | '。' | '！' | '，' | '．' | '：' | '；' | '？' | '‘' | '’' | '“' | '”')
}

/// Returns whether U+FE00 changes the look of a digit, an operator or a letter of Myanmar, Phags-pa or Manichaean.
fn has_standard_variant(base: char) -> bool {
    matches!(base, '0' | '０' | '\u{2205}'..='\u{22fb}' | '\u{2a3c}'..='\u{2ace}' | '\u{1000}'..='\u{1022}'
        | '\u{1075}'..='\u{1078}' | '\u{1080}' | '\u{aa60}'..='\u{aa6f}' | '\u{aa7a}' | '\u{a856}'..='\u{a868}'
        | '\u{10ac5}'..='\u{10ae1}' | '\u{1d49c}'..='\u{1d4b5}' | '\u{210b}'..='\u{2133}')
}

#[cfg(test)]
mod tests {
    use crate::text::{sanitize, width};

    #[test]
    fn selectors_are_invisible_only_where_they_select_something() {
        for text in [
            "⚠\u{fe0f} ❤\u{fe0f} 🏷\u{fe0f} ✔\u{fe0e} ⌚\u{fe0e} 😐\u{fe0e} ©\u{fe0f} ™\u{fe0f} ㊗\u{fe0f} 🈯\u{fe0e}",
            "1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}",
            "👁\u{fe0f}\u{200d}🗨\u{fe0f} 🏳\u{fe0f}\u{200d}🌈 👩\u{200d}❤\u{fe0f}\u{200d}👨",
            "葛\u{e0100} 辻\u{e0101} 侮\u{fe00} ∩\u{fe00} ᠠ\u{180b} ！\u{fe01}",
        ] {
            assert_eq!(sanitize(text), text);
        }
        assert_eq!(sanitize("a\u{fe0f}b"), "a<U+FE0F>b");
        assert_eq!(
            sanitize("世\u{fe0f} é\u{fe00} x\u{e0100} 😀\u{e0101}"),
            "世<U+FE0F> é<U+FE00> x<U+E0100> 😀<U+E0101>"
        );
        assert_eq!(sanitize("e\u{301}\u{fe0f} \u{fe0f} a\u{180b}"), "e\u{301}<U+FE0F> <U+FE0F> a<U+180B>");
        assert_eq!(sanitize("\u{fe0f}"), "<U+FE0F>");
    }

    #[test]
    fn only_one_selector_follows_a_character() {
        assert_eq!(sanitize("⚠\u{fe0f}\u{fe0f}\u{fe0e}"), "⚠\u{fe0f}<U+FE0F><U+FE0E>");
        assert_eq!(sanitize("葛\u{e0100}\u{e0101}"), "葛\u{e0100}<U+E0101>");
        for code in (0xfe00..=0xfe0f).chain(0xe0100..=0xe01ef) {
            let hidden: String = char::from_u32(code).into_iter().cycle().take(8).collect();
            assert!(width(&format!("x{hidden}")) > 8 * "<U+>".len(), "U+{code:04X}");
        }
    }
}
