//! Colors written as code: `#F00`, `RGB(0,255,0)`, `HSLA(540,70%,50%,0.3)`.

/// Returns the red, green and blue of a color as GitLab reads it. The opacity is checked, but not kept.
pub fn parse(code: &str) -> Option<[u8; 3]> {
    if let Some(hex) = code.strip_prefix('#') {
        let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
        return match digits[..] {
            [r, g, b] | [r, g, b, _] => Some([r * 17, g * 17, b * 17]),
            [r, s, g, h, b, c] | [r, s, g, h, b, c, _, _] => Some([r * 16 + s, g * 16 + h, b * 16 + c]),
            _ => None,
        };
    }
    let (name, values) = code.strip_suffix(')')?.split_once('(')?;
    let name = name.to_ascii_lowercase();
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    let values = match (name.as_str(), &values[..]) {
        ("rgb" | "hsl", [a, b, c]) => [*a, *b, *c],
        ("rgba" | "hsla", [a, b, c, opacity]) if number(opacity.trim_end_matches('%')).is_some() => [*a, *b, *c],
        _ => return None,
    };
    if name.starts_with("hsl") {
        let [hue, saturation, lightness] = values;
        let percent = |value: &str| Some(number(value.strip_suffix('%')?)?.min(100.0) / 100.0);
        return Some(from_hsl(number(hue)?, percent(saturation)?, percent(lightness)?));
    }
    let channel = |value: &str| match value.strip_suffix('%') {
        Some(percent) => Some(number(percent)? * 2.55),
        None => number(value),
    };
    let byte = |value: f64| value.round().min(255.0) as u8;
    let [r, g, b] = values;
    Some([byte(channel(r)?), byte(channel(g)?), byte(channel(b)?)])
}

/// Parses a number without a sign.
fn number(text: &str) -> Option<f64> {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'.').then(|| text.parse().ok())?
}

/// Converts a hue in degrees, and saturation and lightness from 0 to 1.
fn from_hsl(hue: f64, saturation: f64, lightness: f64) -> [u8; 3] {
    let spread = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset| {
        let k = (offset + hue / 30.0) % 12.0;
        let value = lightness - spread * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn colors_are_read_in_every_notation() {
        for (code, color) in [
            ("#F00", [255, 0, 0]),
            ("#f00a", [255, 0, 0]),
            ("#336699", [0x33, 0x66, 0x99]),
            ("#FF0000AA", [255, 0, 0]),
            ("RGB(0,255,0)", [0, 255, 0]),
            ("RGB(0%,100%,0%)", [0, 255, 0]),
            ("rgba(0, 255, 0, 0.3)", [0, 255, 0]),
            ("HSL(540,70%,50%)", [38, 217, 217]),
            ("HSLA(0,100%,50%,0.3)", [255, 0, 0]),
        ] {
            assert_eq!(parse(code), Some(color), "{code}");
        }
        for none in [
            "#12",
            "#12345",
            "#1234567",
            "#ggg",
            "#",
            "rgb(1,2)",
            "rgb(-1,2,3)",
            "hsl(1,2,3)",
            "red",
            "rgba(1,2,3)",
            "#１２３",
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
