//! Parses what the terminal sends: keys, mouse events, pasted text, and answers to queries.
//!
//! Terminals send everything in one stream, in pieces of any size. Most sequences begin like a key that users type (Esc,
//! or Alt with a character), so only time tells them apart: the caller waits for more bytes as long as [`timeout`] says,
//! then calls [`expire`]. What has begun as an answer is never passed on as keys.
//!
//! [`timeout`]: Parser::timeout
//! [`expire`]: Parser::expire

use super::Sent;
use crate::runtime::capabilities::{Emulator, TerminalAnswer};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::time::{Duration, Instant};

/// The number of characters at once that nobody types.
const MIN_TEXT: usize = 64;
/// Maximum number of bytes of an answer, and of a sequence.
const MAX_SEQUENCE: usize = 4096;
/// The time that a terminal needs at most to answer the query, usually.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// The time after which Esc is a key.
const ESC_PAUSE: Duration = Duration::from_millis(25);
/// The same while an answer is expected.
const ESC_PAUSE_BEFORE_ANSWER: Duration = Duration::from_millis(250);
/// The time after which Alt with a character is a key.
const ALT_PAUSE: Duration = Duration::from_millis(60);
/// The time after which the rest of a sequence is not expected any more.
const SEQUENCE_PAUSE: Duration = Duration::from_secs(1);
/// The same for an answer.
const ANSWER_PAUSE: Duration = Duration::from_secs(10);

/// The starts of answers after an Esc that was passed on as a key.
const ANSWER_STARTS: [&[u8]; 5] = [b"]11;", b"[?", b"[>", b"P>|", b"_G"];

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// The state of the query of the background color.
#[derive(Debug)]
enum QueryState {
    /// No answer is outstanding.
    None,
    /// The terminal was asked, and will have answered by then, if it answers at all.
    Expected(Instant),
    /// The answer has begun; its text so far.
    Begun(String),
}

/// The interpretation of the first bytes.
enum Step {
    /// This many bytes are something, or nothing.
    Done(usize, Option<Sent>),
    /// More bytes are needed.
    More,
}

/// A parser of the stream.
#[derive(Debug)]
pub struct Parser {
    /// The bytes of an incomplete sequence.
    pending: Vec<u8>,
    /// The text of an incomplete paste.
    paste: Option<Vec<u8>>,
    answer: QueryState,
    /// Whether Esc was just passed on as a key, because nothing followed it in time.
    has_escaped: bool,
    /// The terminal that the environment names: some send what means something else in others.
    emulator: Emulator,
}

impl Parser {
    /// Creates a parser; `is_asked` tells whether the background color was queried and no answer has arrived.
    pub fn new(is_asked: bool, emulator: Emulator) -> Parser {
        let answer = if is_asked { QueryState::Expected(Instant::now() + ANSWER_TIME) } else { QueryState::None };
        Parser { pending: Vec::new(), paste: None, answer, has_escaped: false, emulator }
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Sent> {
        let mut out = Vec::new();
        let mut data = std::mem::take(&mut self.pending);
        data.extend_from_slice(bytes);
        if self.has_escaped {
            let begins = |start: &[u8]| data.starts_with(start);
            let may_begin = |start: &[u8]| start.starts_with(&data) && self.is_expected();
            if ANSWER_STARTS.into_iter().any(begins) {
                data.insert(0, 0x1b);
            } else if ANSWER_STARTS.into_iter().any(may_begin) {
                self.pending = data;
                return out;
            }
            self.has_escaped = false;
        }
        let mut rest = data.as_slice();
        let mut typed = Typed::default();
        while !rest.is_empty() {
            if let Some(paste) = &mut self.paste {
                let end = memchr::memmem::find(rest, PASTE_END);
                // The end of the paste may be split.
                let len = end.unwrap_or(rest.len() - partial_end(rest, PASTE_END));
                let (text, after) = rest.split_at(len);
                paste.extend_from_slice(text);
                rest = after;
                if end.is_none() {
                    break;
                }
                let text = self.paste.take().unwrap_or_default();
                out.push(Sent::Event(Event::Paste(String::from_utf8_lossy(&text).into_owned())));
                rest = rest.get(PASTE_END.len()..).unwrap_or_default();
                continue;
            }
            match self.step(rest) {
                Step::More => break,
                Step::Done(len, sent) => {
                    rest = rest.get(len..).unwrap_or_default();
                    match sent {
                        Some(Sent::Event(Event::Key(key))) if plain_char(key).is_some() => typed.0.push(key),
                        Some(sent) => {
                            typed.flush(&mut out);
                            out.push(sent);
                        }
                        None => {}
                    }
                }
            }
        }
        typed.flush(&mut out);
        self.pending = rest.to_vec();
        out
    }

    /// Returns whether the answer to the query may arrive soon.
    fn is_expected(&self) -> bool {
        matches!(self.answer, QueryState::Expected(until) if Instant::now() < until)
    }

    /// Returns how long to wait for the rest of what has begun, or `None` if nothing has.
    pub fn timeout(&self) -> Option<Duration> {
        let (begun, expected) = (matches!(self.answer, QueryState::Begun(_)), self.is_expected());
        match self.pending.as_slice() {
            _ if self.paste.is_some() => None,
            [] => begun.then_some(ANSWER_PAUSE),
            [0x1b] if begun => Some(ANSWER_PAUSE),
            [0x1b] if expected => Some(ESC_PAUSE_BEFORE_ANSWER),
            [0x1b] => Some(ESC_PAUSE),
            [0x1b, b']', ..] if matches!(self.answer, QueryState::Expected(_)) => Some(ANSWER_PAUSE),
            [0x1b, b'[', b'?' | b'>', ..] | [0x1b, b'P', b'>', ..] | [0x1b, b'_', b'G', ..] => Some(ANSWER_PAUSE),
            [b']', b'1', ..] if self.has_escaped => Some(ANSWER_PAUSE),
            [0x1b, _] => Some(ALT_PAUSE),
            _ => Some(SEQUENCE_PAUSE),
        }
    }

    /// Decides about what has begun and was not completed in time.
    pub fn expire(&mut self) -> Vec<Sent> {
        let pending = std::mem::take(&mut self.pending);
        if std::mem::take(&mut self.has_escaped) && !pending.is_empty() {
            return self.feed(&pending);
        }
        let escape = || Sent::Event(Event::Key(KeyCode::Esc.into()));
        match pending.as_slice() {
            [] => {
                self.answer = QueryState::None;
                Vec::new()
            }
            [0x1b] => {
                self.has_escaped = true;
                vec![escape()]
            }
            [0x1b, 0x1b] => vec![escape(), escape()],
            [0x1b, c] => vec![alt(KeyEvent::new(KeyCode::Char(char::from(*c)), KeyModifiers::NONE))],
            [0x1b, b'O', digits @ ..] => {
                let mut keys = vec![alt(char_key('O'))];
                keys.extend(self.feed(digits));
                keys
            }
            _ => Vec::new(),
        }
    }

    fn step(&mut self, rest: &[u8]) -> Step {
        if let QueryState::Begun(text) = &mut self.answer {
            match rest {
                [c @ (b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' | b'/' | b':' | b'r' | b'g' | b'#'), ..]
                    if text.len() < MAX_SEQUENCE =>
                {
                    text.push(char::from(*c));
                    return Step::Done(1, None);
                }
                [0x07, ..] => return Step::Done(1, self.answered()),
                [0x1b, b'\\', ..] => return Step::Done(2, self.answered()),
                [0x1b] => return Step::More,
                // A key that was typed meanwhile.
                _ => {}
            }
        }
        match rest {
            [0x1b, ..] => self.escape(rest),
            // Alacritty sends a line feed for the Enter key of the keypad.
            [b'\n', ..] if self.emulator == Emulator::Alacritty => {
                Step::Done(1, Some(Sent::Event(Event::Key(KeyCode::Enter.into()))))
            }
            _ => plain(rest),
        }
    }

    fn answered(&mut self) -> Option<Sent> {
        let QueryState::Begun(text) = std::mem::replace(&mut self.answer, QueryState::None) else { return None };
        Some(Sent::Background(luminance(&text)? > 0.5))
    }

    /// Parses what begins with Esc.
    fn escape(&mut self, rest: &[u8]) -> Step {
        match rest {
            [0x1b] => Step::More,
            [0x1b, b'[', sequence @ ..] => self.control(sequence),
            [0x1b, b'O'] => Step::More,
            [0x1b, b'O', b'1'..=b'9', ..] => modified_application(rest),
            [0x1b, b'O', c, ..] => match application(*c) {
                Some(key) => Step::Done(3, Some(Sent::Event(Event::Key(key)))),
                None => Step::Done(2, Some(alt(KeyEvent::new(KeyCode::Char('O'), KeyModifiers::SHIFT)))),
            },
            [0x1b, b']', body @ ..] => match &self.answer {
                QueryState::Expected(_) if body.starts_with(b"11;") => {
                    self.answer = QueryState::Begun(String::new());
                    Step::Done(5, None)
                }
                QueryState::Expected(_) if b"11;".starts_with(body) => Step::More,
                _ => string(rest, body.first().map(u8::is_ascii_digit)),
            },
            [0x1b, b'P', body @ ..] => string(rest, body.first().map(|c| b"0123456789>!$+|=".contains(c))),
            [0x1b, b'_', body @ ..] => string(rest, body.first().map(|c| *c == b'G')),
            // Some terminals send Esc before the sequence of a key that is pressed with Alt.
            [0x1b, 0x1b] => Step::More,
            [0x1b, 0x1b, b'[' | b'O', ..] => match self.escape(rest.get(1..).unwrap_or_default()) {
                Step::Done(len, Some(Sent::Event(Event::Key(key)))) => Step::Done(len + 1, Some(alt(key))),
                Step::Done(len, sent) => Step::Done(len + 1, sent),
                Step::More => Step::More,
            },
            [0x1b, 0x1b, ..] => Step::Done(1, Some(Sent::Event(Event::Key(KeyCode::Esc.into())))),
            [_, after @ ..] => match plain(after) {
                Step::Done(len, Some(Sent::Event(Event::Key(key)))) => Step::Done(len + 1, Some(alt(key))),
                Step::Done(len, _) => Step::Done(len + 1, None),
                Step::More => Step::More,
            },
            [] => Step::More,
        }
    }

    /// Parses a control sequence, after `ESC [`.
    fn control(&mut self, sequence: &[u8]) -> Step {
        if self.emulator == Emulator::St
            && let Some((len, code, modifiers)) = st_key(sequence)
        {
            return key_step(len, code, modifiers);
        }
        match sequence {
            // The Linux console's F1 to F5.
            [b'[', c @ b'A'..=b'E', ..] => return key_step(4, KeyCode::F(c - b'A' + 1), KeyModifiers::NONE),
            [b'['] => return Step::More,
            [b'M', button, x, y, ..] => {
                return Step::Done(6, mouse(button.saturating_sub(32).into(), (*x).into(), (*y).into(), 32, false));
            }
            [b'M', ..] => return Step::More,
            _ => {}
        }
        let is_parameter = |c: &u8| matches!(c, b'0'..=b'9' | b';' | b':');
        // In rxvt, a dollar sign ends the sequence of a key that is pressed with Shift.
        let is_rxvt = |at: usize| sequence.get(..at).is_some_and(|before| at > 0 && before.iter().all(is_parameter));
        let ends = |(at, c): (usize, &u8)| !matches!(c, 0x20..=0x3f) || (*c == b'$' && is_rxvt(at));
        let Some(end) = sequence.iter().enumerate().position(ends) else {
            return if sequence.len() > MAX_SEQUENCE { Step::Done(sequence.len() + 2, None) } else { Step::More };
        };
        let (parameters, len) = (sequence.get(..end).unwrap_or_default(), end + 3);
        let last = sequence.get(end).copied().unwrap_or_default();
        if !matches!(last, b'$' | 0x40..=0x7e) {
            // Another sequence begins before this one ends.
            return Step::Done(end + 2, None);
        }
        if sequence.starts_with(PASTE_START.get(2..).unwrap_or_default()) {
            self.paste = Some(Vec::new());
            return Step::Done(len, None);
        }
        let Ok(parameters) = std::str::from_utf8(parameters) else { return Step::Done(len, None) };
        Step::Done(len, control(parameters, last))
    }
}

/// Consecutive characters.
#[derive(Default)]
struct Typed(Vec<KeyEvent>);

impl Typed {
    fn flush(&mut self, out: &mut Vec<Sent>) {
        let keys = std::mem::take(&mut self.0);
        if keys.len() >= MIN_TEXT {
            out.push(Sent::Text(keys.into_iter().filter_map(plain_char).collect()));
        } else {
            out.extend(keys.into_iter().map(|key| Sent::Event(Event::Key(key))));
        }
    }
}

/// Returns the character that a key adds to a text.
fn plain_char(key: KeyEvent) -> Option<char> {
    match key.code {
        _ if key.kind != KeyEventKind::Press || !KeyModifiers::SHIFT.contains(key.modifiers) => None,
        KeyCode::Char(c) => Some(c),
        KeyCode::Enter => Some('\n'),
        KeyCode::Tab => Some('\t'),
        _ => None,
    }
}

/// Returns the length of the end of `text` that may be the start of `marker`.
fn partial_end(text: &[u8], marker: &[u8]) -> usize {
    (1..marker.len()).rev().find(|len| marker.get(..*len).is_some_and(|start| text.ends_with(start))).unwrap_or(0)
}

/// Skips a string sequence such as `ESC ] … ESC \`. `is_string` tells whether its first character shows that it is one.
fn string(rest: &[u8], is_string: Option<bool>) -> Step {
    match is_string {
        None => return Step::More,
        Some(false) => {
            let c = rest.get(1).copied().unwrap_or_default();
            return Step::Done(2, Some(alt(char_key(char::from(c)))));
        }
        Some(true) => {}
    }
    let body = rest.get(2..).unwrap_or_default();
    match body.iter().position(|c| matches!(c, 0x07 | 0x1b)) {
        Some(at) if body.get(at) == Some(&0x07) => Step::Done(at + 3, answer_string(rest.get(1..at + 2))),
        Some(at) => match body.get(at + 1) {
            Some(b'\\') => Step::Done(at + 4, answer_string(rest.get(1..at + 2))),
            Some(_) => Step::Done(at + 2, None),
            None => Step::More,
        },
        None if body.len() > MAX_SEQUENCE => Step::Done(rest.len(), None),
        None => Step::More,
    }
}

/// Returns the length, with `ESC [`, and the key of a sequence that only st sends, as long as its keypad is not in the
/// application mode.
fn st_key(sequence: &[u8]) -> Option<(usize, KeyCode, KeyModifiers)> {
    Some(match sequence {
        [b'P', ..] => (3, KeyCode::Delete, KeyModifiers::NONE),
        [b'M', ..] => (3, KeyCode::Delete, KeyModifiers::CONTROL),
        [b'2', b'K', ..] => (4, KeyCode::Delete, KeyModifiers::SHIFT),
        [b'4', b'h', ..] => (4, KeyCode::Insert, KeyModifiers::NONE),
        [b'4', b'l', ..] => (4, KeyCode::Insert, KeyModifiers::SHIFT),
        [b'L', ..] => (3, KeyCode::Insert, KeyModifiers::CONTROL),
        _ => return None,
    })
}

/// Interprets a string sequence without its first and last character, if it is an answer.
fn answer_string(text: Option<&[u8]>) -> Option<Sent> {
    let text = std::str::from_utf8(text?).ok()?;
    let answer = match (text.strip_prefix("P>|"), text.strip_prefix("_Gi=1;")) {
        (Some(version), _) => TerminalAnswer::Version(version.to_owned()),
        (None, Some("OK")) => TerminalAnswer::KittyImages,
        _ => return None,
    };
    Some(Sent::Answer(answer))
}

/// Interprets the attributes of a device, `?62;4c` or `>1;10;0c`, or the flags of the keyboard protocol, `?5u`.
fn answer_sequence(parameters: &str, last: u8) -> Option<Sent> {
    let numbers = |text: &str| text.split(';').filter_map(|number| number.parse().ok()).collect();
    let answer = match (parameters.split_at_checked(1)?, last) {
        (("?", _), b'u') => TerminalAnswer::KeyboardProtocol,
        (("?", all), b'c') => TerminalAnswer::Attributes(numbers(all)),
        ((">", all), b'c') => TerminalAnswer::SecondaryAttributes(numbers(all)),
        _ => return None,
    };
    Some(Sent::Answer(answer))
}

/// Parses `ESC O`, modifiers and a letter: F1 to F4 of Konsole, as in `ESC O 5 Q`, and of terminals that send `1;5`.
fn modified_application(rest: &[u8]) -> Step {
    let body = rest.get(2..).unwrap_or_default();
    let len = body.iter().take_while(|c| c.is_ascii_digit() || **c == b';').count();
    let modifiers = body.get(..len).and_then(|text| std::str::from_utf8(text).ok()?.rsplit(';').next());
    let key = match body.get(len) {
        None if len <= 5 => return Step::More,
        Some(last @ (b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S')) if len <= 5 => functional(*last),
        _ => None,
    };
    match key {
        Some(code) => key_step(len + 3, code, held(modifiers).0),
        None => Step::Done(2, Some(alt(char_key('O')))),
    }
}

fn alt(mut key: KeyEvent) -> Sent {
    key.modifiers |= KeyModifiers::ALT;
    Sent::Event(Event::Key(key))
}

fn char_key(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE })
}

fn key_step(len: usize, code: KeyCode, modifiers: KeyModifiers) -> Step {
    Step::Done(len, Some(Sent::Event(Event::Key(KeyEvent::new(code, modifiers)))))
}

/// Parses a character, or a key that is a control character.
fn plain(rest: &[u8]) -> Step {
    let (code, modifiers) = match rest.first().copied().unwrap_or_default() {
        b'\r' => (KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => (KeyCode::Tab, KeyModifiers::NONE),
        0x7f => (KeyCode::Backspace, KeyModifiers::NONE),
        0 => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        c @ 0x01..=0x1a => (KeyCode::Char(char::from(c - 1 + b'a')), KeyModifiers::CONTROL),
        c @ 0x1c..=0x1f => (KeyCode::Char(char::from(c - 0x1c + b'4')), KeyModifiers::CONTROL),
        c if c < 0x80 => {
            let key = char_key(char::from(c));
            (key.code, key.modifiers)
        }
        first => {
            let len = match first {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Step::Done(1, None),
            };
            let known = rest.get(..len.min(rest.len())).unwrap_or_default();
            return match std::str::from_utf8(known).map(|text| text.chars().next()) {
                Ok(Some(c)) => Step::Done(len, Some(Sent::Event(Event::Key(char_key(c))))),
                Err(error) if error.error_len().is_none() => Step::More,
                _ => Step::Done(1, None),
            };
        }
    };
    key_step(1, code, modifiers)
}

/// Interprets a complete control sequence. Unknown sequences are nothing.
fn control(parameters: &str, last: u8) -> Option<Sent> {
    let mut fields = parameters.split(';');
    match last {
        b'I' if parameters.is_empty() => return Some(Sent::Event(Event::FocusGained)),
        b'O' if parameters.is_empty() => return Some(Sent::Event(Event::FocusLost)),
        b'M' | b'm' => {
            let sgr = parameters.strip_prefix('<');
            let mut numbers = sgr.unwrap_or(parameters).split(';').map(|number| number.parse().ok());
            let (button, x, y): (u16, u16, u16) = (numbers.next()??, numbers.next()??, numbers.next()??);
            let button = if sgr.is_some() { button } else { button.checked_sub(32)? };
            return mouse(button, x, y, 0, last == b'm');
        }
        _ if parameters.starts_with(['?', '>', '<', '=']) => return answer_sequence(parameters, last),
        _ => {}
    }
    let first = fields.next().unwrap_or_default();
    let (mut code, modifiers) = match last {
        b'u' => return code_key(first, fields.next()),
        b'~' if first == "27" => {
            let modifiers = fields.next();
            return code_key(fields.next()?, modifiers);
        }
        b'~' => (numbered(first.parse().ok()?)?, fields.next()),
        // The keys of rxvt.
        b'$' => (numbered(first.parse().ok()?)?, Some("2")),
        b'^' => (numbered(first.parse().ok()?)?, Some("5")),
        b'@' => (numbered(first.parse().ok()?)?, Some("6")),
        b'a'..=b'd' => (functional(last.to_ascii_uppercase())?, Some("2")),
        b'Z' => (KeyCode::BackTab, fields.next()),
        c => (functional(c)?, fields.next()),
    };
    let (mut modifiers, kind) = held(modifiers);
    if code == KeyCode::BackTab {
        modifiers |= KeyModifiers::SHIFT;
    }
    if code == KeyCode::Tab && modifiers.contains(KeyModifiers::SHIFT) {
        code = KeyCode::BackTab;
    }
    Some(Sent::Event(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind))))
}

/// Parses `modifiers:kind` of a key.
fn held(field: Option<&str>) -> (KeyModifiers, KeyEventKind) {
    let mut parts = field.unwrap_or_default().split(':');
    let mask = parts.next().and_then(|mask| mask.parse::<u16>().ok()).unwrap_or(1).saturating_sub(1);
    let mut modifiers = KeyModifiers::NONE;
    for (bit, modifier) in [
        KeyModifiers::SHIFT,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
        KeyModifiers::HYPER,
        KeyModifiers::META,
    ]
    .into_iter()
    .enumerate()
    {
        modifiers.set(modifier, mask >> bit & 1 != 0);
    }
    let kind = match parts.next() {
        Some("2") => KeyEventKind::Repeat,
        Some("3") => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    (modifiers, kind)
}

/// Parses a key by its code: `code:shifted:base`, in kitty's protocol, and its modifiers.
fn code_key(codes: &str, modifiers: Option<&str>) -> Option<Sent> {
    let (mut modifiers, kind) = held(modifiers);
    let mut codes = codes.split(':').map(|code| code.parse::<u32>().ok());
    let (code, shifted, base) = (codes.next()??, codes.next().flatten(), codes.next().flatten());
    let code = match code {
        27 => KeyCode::Esc,
        13 => KeyCode::Enter,
        9 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        9 => KeyCode::Tab,
        127 => KeyCode::Backspace,
        // The keypad.
        57_399..=57_408 => KeyCode::Char(char::from_u32(code - 57_399 + u32::from(b'0'))?),
        57_409..=57_413 => KeyCode::Char(char::from(*b"./*-+".get(code as usize - 57_409)?)),
        57_414 => KeyCode::Enter,
        57_415 => KeyCode::Char('='),
        57_416 => KeyCode::Char(','),
        57_417 => KeyCode::Left,
        57_418 => KeyCode::Right,
        57_419 => KeyCode::Up,
        57_420 => KeyCode::Down,
        57_421 => KeyCode::PageUp,
        57_422 => KeyCode::PageDown,
        57_423 => KeyCode::Home,
        57_424 => KeyCode::End,
        57_425 => KeyCode::Insert,
        57_426 => KeyCode::Delete,
        57_376..=57_398 => KeyCode::F(u8::try_from(code - 57_376 + 13).ok()?),
        // Modifiers, media keys and others.
        57_344..=63_743 => return None,
        code => {
            let is_shortcut = modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
            // Shortcuts are named by Latin letters: on other layouts, by the one at the same place.
            match base.filter(|base| is_shortcut && code > 127 && *base < 128) {
                Some(base) => KeyCode::Char(char::from_u32(base)?),
                None => match shifted.filter(|_| modifiers.contains(KeyModifiers::SHIFT)).and_then(char::from_u32) {
                    Some(shifted) => {
                        modifiers.remove(KeyModifiers::SHIFT);
                        KeyCode::Char(shifted)
                    }
                    None => KeyCode::Char(char::from_u32(code).filter(|c| !c.is_control())?),
                },
            }
        }
    };
    Some(Sent::Event(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind))))
}

/// Returns the key of a sequence `ESC [ number ~`.
fn numbered(number: u8) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        _ => return None,
    })
}

/// Returns the key of a sequence that ends with a letter.
fn functional(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        _ => return None,
    })
}

/// Returns the key of a sequence `ESC O` and a letter: of the keypad in its application mode, or of rxvt with Ctrl.
fn application(last: u8) -> Option<KeyEvent> {
    Some(match last {
        b'a'..=b'd' => KeyEvent::new(functional(last.to_ascii_uppercase())?, KeyModifiers::CONTROL),
        b'j'..=b'o' | b'p'..=b'y' => KeyCode::Char(char::from(last - b'j' + b'*')).into(),
        b'X' => KeyCode::Char('=').into(),
        _ => functional(last)?.into(),
    })
}

/// Interprets a mouse report. The upper left cell has the number 1, or one more than `offset`.
fn mouse(button: u16, x: u16, y: u16, offset: u16, is_release: bool) -> Option<Sent> {
    let name = match button & 0b11 {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    let (is_drag, is_none) = (button & 32 != 0, button & 0b11 == 3);
    let kind = match button & !0b0011_1111 {
        0 if is_drag && is_none => MouseEventKind::Moved,
        0 if is_drag => MouseEventKind::Drag(name),
        // Reports without a letter for releases do not name the button.
        0 if is_none => MouseEventKind::Up(MouseButton::Left),
        0 if is_release => MouseEventKind::Up(name),
        0 => MouseEventKind::Down(name),
        64 => match button & 0b11 {
            0 => MouseEventKind::ScrollUp,
            1 => MouseEventKind::ScrollDown,
            2 => MouseEventKind::ScrollLeft,
            _ => MouseEventKind::ScrollRight,
        },
        _ => return None,
    };
    let mut modifiers = KeyModifiers::NONE;
    modifiers.set(KeyModifiers::SHIFT, button & 4 != 0);
    modifiers.set(KeyModifiers::ALT, button & 8 != 0);
    modifiers.set(KeyModifiers::CONTROL, button & 16 != 0);
    let cell = |at: u16| at.saturating_sub(offset).saturating_sub(1);
    Some(Sent::Event(Event::Mouse(MouseEvent { kind, column: cell(x), row: cell(y), modifiers })))
}

/// Returns the luminance of `rgb:hhhh/hhhh/hhhh`, from 0 to 1.
fn luminance(text: &str) -> Option<f64> {
    let (_, color) = text.split_once(':')?;
    let mut channels = color.split('/').map(|hex| {
        let top = 16f64.powi(i32::try_from(hex.len()).ok()?) - 1.0;
        Some(f64::from(u32::from_str_radix(hex, 16).ok()?) / top)
    });
    let (r, g, b) = (channels.next()??, channels.next()??, channels.next()??);
    Some(0.2126 * r + 0.7152 * g + 0.0722 * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keymap::Key;

    /// Parses bytes and returns the names of the keys.
    fn keys(bytes: &[u8]) -> Vec<String> {
        names(&feed_all(&mut Parser::new(false, Emulator::Unknown), &[bytes]))
    }

    fn names(all: &[Sent]) -> Vec<String> {
        all.iter()
            .filter_map(|sent| match sent {
                Sent::Event(Event::Key(key)) if key.kind != KeyEventKind::Release => Some(Key::of(*key).to_string()),
                _ => None,
            })
            .collect()
    }

    /// Parses pieces, with a long pause after each.
    fn feed_all(parser: &mut Parser, pieces: &[&[u8]]) -> Vec<Sent> {
        let mut all = Vec::new();
        for piece in pieces {
            all.extend(parser.feed(piece));
            if parser.timeout().is_some() && !parser.pending.is_empty() {
                all.extend(parser.expire());
            }
        }
        all
    }

    #[test]
    fn keys_have_the_same_names_in_every_encoding() {
        for (bytes, name) in [
            ("s", "s"),
            ("\x13", "C-s"),
            ("\x1b[115;5u", "C-s"),
            // A Cyrillic, a Greek and an Arabic layout; on a Dvorak layout, the letter itself counts.
            ("\x1b[1099::115;5u", "C-s"),
            ("\x1b[1099:1067:115;6u", "C-s"),
            ("\x1b[963::115;5u", "C-s"),
            ("\x1b[1587::115;3u", "M-s"),
            ("\x1b[111::115;5u", "C-o"),
            ("\x1b[27;5;115~", "C-s"),
            ("ы", "ы"),
            ("\x1b[1099::115;1u", "ы"),
            ("\x1b[97:65;2u", "A"),
            ("\x1b[127;5u", "C-Backspace"),
            ("\x1b\x7f", "M-Backspace"),
            ("\x1b[27u", "Esc"),
            ("\x1b[9;2u", "S-Tab"),
            ("\x1b[Z", "S-Tab"),
            ("\x1bd", "M-d"),
            ("\x1bOA", "Up"),
            ("\x1b[1;5C", "C-Right"),
            ("\x1b\x1b[D", "M-Left"),
            ("\x1b[3~", "Delete"),
            ("\x1b[15~", "F5"),
            ("\x1b[57400;129u", "1"),
            ("\x1b[1;133C", "C-Right"),
            ("\x1b[3$", "S-Delete"),
            ("\x1b[5^", "C-PageUp"),
            ("\x1b[a", "S-Up"),
            ("\x1bOd", "C-Left"),
            ("\x1bOp", "0"),
            ("\x1bOk", "+"),
            ("\x1bOM", "Enter"),
            ("\x1b[1;2R", "S-F3"),
            // Konsole 26.08 (default.keytab), and with `1;` older terminals.
            ("\x1bO5Q", "C-F2"),
            ("\x1bO2P", "S-F1"),
            ("\x1bO1;5S", "C-F4"),
            ("\x1b[57414u", "Enter"),
            ("\r", "Enter"),
            ("\n", "C-j"),
            ("\0", "C-Space"),
            ("\x1b", "Esc"),
            ("\x1b]", "M-]"),
            ("\x1b[", "M-["),
            ("\x1bP", "M-P"),
        ] {
            assert_eq!(keys(bytes.as_bytes()), [name], "{bytes:?}");
        }
        assert_eq!(keys(b"\x1b\x1b"), ["Esc", "Esc"]);
        assert_eq!(keys(b"\x1bO5j"), ["M-O", "5", "j"], "Alt-O and other keys");
        assert_eq!(keys(b"\x1bO5"), ["M-O", "5"]);
        assert_eq!(keys(b"\x1b[115;5:3u"), [""; 0], "a release");
        // Super, Hyper and Meta.
        for modifiers in [9, 17, 33, 13] {
            let super_q = format!("\x1b[113;{modifiers}u");
            assert_ne!(keys(super_q.as_bytes()), ["q"], "{super_q:?}");
            assert_ne!(keys(super_q.as_bytes()), ["C-q"], "{super_q:?}");
        }
    }

    #[test]
    fn keys_of_some_terminals_mean_something_else_in_others() {
        for (emulator, bytes, name) in [
            // config.def.h of st 0.9, with the keypad in its usual and in the application mode.
            (Emulator::St, "\x1b[P", "Delete"),
            (Emulator::St, "\x1b[M", "C-Delete"),
            (Emulator::St, "\x1b[2K", "S-Delete"),
            (Emulator::St, "\x1b[4h", "Insert"),
            (Emulator::St, "\x1b[4l", "S-Insert"),
            (Emulator::St, "\x1b[L", "C-Insert"),
            (Emulator::St, "\x1b[3;5~", "C-Delete"),
            // F1 in kitty's protocol.
            (Emulator::Kitty, "\x1b[P", "F1"),
            // bindings.rs of Alacritty 0.17: Enter of the keypad.
            (Emulator::Alacritty, "\n", "Enter"),
        ] {
            let sent = feed_all(&mut Parser::new(false, emulator), &[bytes.as_bytes(), b"jkl"]);
            assert_eq!(names(&sent), [name, "j", "k", "l"], "{bytes:?}");
        }
    }

    #[test]
    fn answers_tell_what_the_terminal_is() {
        let mut parser = Parser::new(false, Emulator::Unknown);
        // The forms of foot 1.28, kitty 0.48, xterm 412 and mosh 1.4.
        let all = parser.feed(b"\x1bP>|foot(1.28.0)\x1b\\\x1b[?5u\x1b_Gi=1;OK\x1b\\\x1b[>1;10;0c\x1b[?62;4;22;28;52c");
        let expected = [
            TerminalAnswer::Version("foot(1.28.0)".into()),
            TerminalAnswer::KeyboardProtocol,
            TerminalAnswer::KittyImages,
            TerminalAnswer::SecondaryAttributes(vec![1, 10, 0]),
            TerminalAnswer::Attributes(vec![62, 4, 22, 28, 52]),
        ];
        assert_eq!(all, expected.map(Sent::Answer));
        // A refused image, and other answers.
        assert_eq!(parser.feed(b"\x1b_Gi=1;EINVAL:no\x1b\\\x1bP1+r544e\x1b\\\x1b[?2026;2$y"), []);
    }

    #[test]
    fn mouse_focus_and_paste_are_reported() {
        let mut parser = Parser::new(false, Emulator::Unknown);
        let press = MouseEventKind::Down(MouseButton::Left);
        let event = |kind, modifiers| Sent::Event(Event::Mouse(MouseEvent { kind, column: 4, row: 2, modifiers }));
        let all = parser.feed(b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<65;5;3M\x1b[<48;5;3M\x1b[M %#");
        assert_eq!(
            all,
            [
                event(press, KeyModifiers::NONE),
                event(MouseEventKind::Up(MouseButton::Left), KeyModifiers::NONE),
                event(MouseEventKind::ScrollDown, KeyModifiers::NONE),
                event(MouseEventKind::Drag(MouseButton::Left), KeyModifiers::CONTROL),
                event(press, KeyModifiers::NONE),
            ]
        );
        assert_eq!(parser.feed(b"\x1b[I\x1b[O"), [Event::FocusGained, Event::FocusLost].map(Sent::Event));
        let pasted = "\x1b[200~a\x1b[31m\nü\x1b[201~q".as_bytes();
        for at in 0..pasted.len() {
            let (head, tail) = pasted.split_at(at);
            let all = feed_all(&mut parser, &[head, tail]);
            // A pause after Esc makes it a key.
            if at > 0 && !(1..=5).contains(&at) {
                assert_eq!(all[0], Sent::Event(Event::Paste("a\x1b[31m\nü".into())), "{at}");
                assert_eq!(names(&all), ["q"], "{at}");
            }
        }
    }

    #[test]
    fn answers_are_never_typed_however_they_are_split() {
        let answer = b"\x1b]11;rgb:ffff/ffff/f0f0\x1b\\";
        for end in [&answer[..], b"\x1b]11;rgb:ffff/ffff/f0f0\x07", b"\x1b]11;rgba:ff/ff/ff/ff\x07"] {
            for first in 1..end.len() {
                for second in first..end.len() {
                    let mut parser = Parser::new(true, Emulator::Unknown);
                    let pieces = [&end[..first], &end[first..second], &end[second..], b"j"];
                    let mut all = Vec::new();
                    for piece in pieces {
                        all.extend(parser.feed(piece));
                        // A pause of some seconds; after Esc and a bracket, of less than one.
                        let pause = if piece == b"]" { SEQUENCE_PAUSE } else { ANSWER_PAUSE };
                        if parser.timeout().is_some_and(|limit| limit < pause) {
                            all.extend(parser.expire());
                        }
                    }
                    let mut typed = names(&all);
                    // Esc alone, before anything else, cannot be told from the key.
                    typed.retain(|name| name != "Esc");
                    assert_eq!(typed, ["j"], "{first} {second}");
                    assert!(all.contains(&Sent::Background(true)), "{first} {second}");
                }
            }
        }
        let mut parser = Parser::new(true, Emulator::Unknown);
        assert_eq!(names(&feed_all(&mut parser, &[b"\x1b]11;#1e1e", b"2e\x1b\\j"])), ["j"]);
        // Keys that are typed meanwhile are keys.
        let mut parser = Parser::new(true, Emulator::Unknown);
        let all = feed_all(&mut parser, &[b"\x1b]11;rgb:00", b"k", b"00/0000", b"\x1b[A", b"/0000\x1b\\q"]);
        assert_eq!(names(&all), ["k", "Up", "q"]);
        assert!(all.contains(&Sent::Background(false)));
        // Answers that nobody asked for, or that come twice.
        let mut parser = Parser::new(false, Emulator::Unknown);
        let all =
            parser.feed(b"\x1b[?62;22c\x1b[?5u\x1b]11;rgb:0/0/0\x07\x1bP>|foot\x1b\\\x1b[?2026;2$y\x1b_Gi=1;OK\x1b\\j");
        assert_eq!(names(&all), ["j"]);
        for at in 1..10 {
            let (head, tail) = b"\x1b[?62;22c".split_at(at);
            let mut parser = Parser::new(false, Emulator::Unknown);
            let mut all = parser.feed(head);
            if parser.timeout().is_some_and(|limit| limit < SEQUENCE_PAUSE) {
                all.extend(parser.expire());
            }
            all.extend(parser.feed(tail));
            let mut typed = names(&all);
            typed.retain(|name| name != "Esc" && name != "M-[");
            assert!(at == 2 || typed.is_empty(), "{at}: {typed:?}");
        }
    }

    #[test]
    fn long_text_at_once_is_text_and_short_text_is_keys() {
        let mut parser = Parser::new(false, Emulator::Unknown);
        let text = "ein Satz, gesprochen\rzwei\tä ".repeat(9);
        assert_eq!(parser.feed(text.as_bytes()), [Sent::Text(text.replace('\r', "\n"))]);
        assert_eq!(names(&parser.feed(b"gp:br\r")), ["g", "p", ":", "b", "r", "Enter"]);
        // Any bytes, in any pieces, are parsed to the end.
        let mut dice = crate::dice::Dice(11);
        for _ in 0..300 {
            let bytes =
                dice.bytes(200, &[b"\x1b[", b"\x1b]11;", b"\x1bP", b"\x1b[200~", b"\x1b[201~", b";5u", b"\x1b"]);
            let mut parser = Parser::new(true, Emulator::Unknown);
            for piece in bytes.chunks(dice.below(9) + 1) {
                parser.feed(piece);
                assert!(parser.pending.len() <= 2 * MAX_SEQUENCE);
                if parser.timeout().is_some() {
                    parser.expire();
                }
            }
        }
    }
}
