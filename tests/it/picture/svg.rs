//! A screen as a picture: text that can be selected, in a window, without fonts of its own.

mod moving;

pub use moving::{Frame, animate, frames_of};

use std::fmt::Write;

/// The size of a cell, of the space around the text, and of the title bar, in pixels.
const CELL_WIDTH: f32 = 8.43;
const CELL_HEIGHT: f32 = 18.0;
const PADDING: f32 = 18.0;
const BAR_HEIGHT: f32 = 36.0;
/// How far below a cell's top its letters stand.
const BASELINE: f32 = 13.5;

const BACKGROUND: &str = "#0f141b";
const BAR: &str = "#1a212b";
const BORDER: &str = "#2f3946";
const FOREGROUND: &str = "#d6dde6";
/// How much of its colour dim text keeps.
const DIM_OPACITY: f32 = 0.6;

/// Draws a screen.
pub fn draw(screen: &vt100::Screen, title: &str) -> String {
    let rows = screen.size().0.get();
    let mut svg = frame(screen, 0.0, title);
    for row in 0..rows {
        svg.push_str(&line(screen, row, row));
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// A row of a screen, drawn where another one stands.
fn line(screen: &vt100::Screen, row: u16, at: u16) -> String {
    let mut svg = String::new();
    for run in runs(screen, row, screen.size().1.get()) {
        run.draw(&mut svg, at);
    }
    svg
}

/// The window around a screen, with some room below it.
fn frame(screen: &vt100::Screen, below: f32, title: &str) -> String {
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    let width = f32::from(columns) * CELL_WIDTH + 2.0 * PADDING;
    let height = f32::from(rows) * CELL_HEIGHT + BAR_HEIGHT + 2.0 * PADDING + below;
    let (right, bottom) = (width - 1.0, height - 1.0);
    let title = escaped(title);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{title}">
<title>{title}</title>
<rect x="0.5" y="0.5" width="{right:.0}" height="{bottom:.0}" rx="10" fill="{BACKGROUND}" stroke="{BORDER}"/>
<path d="M1 {BAR_HEIGHT} V10.5 A9.5 9.5 0 0 1 10.5 1 H{:.1} A9.5 9.5 0 0 1 {right:.0} 10.5 V{BAR_HEIGHT} Z" fill="{BAR}"/>
<path d="M1 {BAR_HEIGHT} H{right:.0}" stroke="{BORDER}"/>
"#,
        width - 10.5
    );
    for (x, color) in [(22, "#ff5f57"), (42, "#febc2e"), (62, "#28c840")] {
        writeln!(svg, r#"<circle cx="{x}" cy="18" r="6" fill="{color}"/>"#).unwrap();
    }
    let font = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
    writeln!(svg, r#"<g font-family="{font}" font-size="14" fill="{FOREGROUND}">"#).unwrap();
    let middle = width / 2.0;
    writeln!(
        svg,
        r#"<text x="{middle:.0}" y="23" text-anchor="middle" font-size="13" opacity="0.7">{title}</text>"#
    )
    .unwrap();
    svg
}

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    color: &'static str,
    is_bold: bool,
    is_dim: bool,
    is_inverse: bool,
}

impl Look {
    fn of(cell: &vt100::Cell) -> Self {
        Self {
            color: color(cell.fgcolor()),
            is_bold: cell.bold(),
            is_dim: cell.dim(),
            is_inverse: cell.inverse(),
        }
    }
}

/// Cells side by side that look the same.
struct Run {
    column: u16,
    cells: u16,
    text: String,
    look: Look,
}

impl Run {
    /// Whether the next cell belongs to it. Each column of a table is a run of its own: where a program ignores the length
    /// that is said, only the text within a column shifts.
    fn goes_on_with(&self, look: Look, text: &str) -> bool {
        let is_next_column = self.text.ends_with("  ") && text != " " && !look.is_inverse;
        self.look == look && !is_next_column
    }

    fn draw(&self, svg: &mut String, row: u16) {
        let x = f32::from(self.column).mul_add(CELL_WIDTH, PADDING);
        let y = f32::from(row).mul_add(CELL_HEIGHT, PADDING + BAR_HEIGHT);
        let width = f32::from(self.cells) * CELL_WIDTH;
        if self.look.is_inverse {
            writeln!(
                svg,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{CELL_HEIGHT}" fill="{}"/>"#,
                self.look.color
            )
            .unwrap();
        }
        if self.text.trim().is_empty() {
            return;
        }
        // The length is said, so that cells stand under each other whatever font is found.
        write!(
            svg,
            r#"<text x="{x:.1}" y="{:.1}" textLength="{width:.1}" lengthAdjust="spacingAndGlyphs""#,
            y + BASELINE
        )
        .unwrap();
        let color = if self.look.is_inverse { BACKGROUND } else { self.look.color };
        if color != FOREGROUND {
            write!(svg, r#" fill="{color}""#).unwrap();
        }
        if self.look.is_bold {
            svg.push_str(r#" font-weight="bold""#);
        }
        if self.look.is_dim {
            write!(svg, r#" opacity="{DIM_OPACITY}""#).unwrap();
        }
        writeln!(svg, ">{}</text>", spaced(&escaped(&self.text))).unwrap();
    }
}

/// A row's runs; where nothing is to be seen, there is none.
fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let look = Look::of(cell);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let cells = if cell.is_wide() { 2 } else { 1 };
        match runs.last_mut() {
            Some(run) if run.goes_on_with(look, text) => {
                run.text.push_str(text);
                run.cells += cells;
            }
            _ => runs.push(Run { column, cells, text: text.to_owned(), look }),
        }
    }
    runs.iter_mut().filter(|run| !run.look.is_inverse).for_each(trim);
    runs
}

/// Spaces around a run are not drawn: their width would depend on the font.
fn trim(run: &mut Run) {
    let count = |spaces: usize| u16::try_from(spaces).expect("a row has few cells");
    let before = count(run.text.len() - run.text.trim_start().len());
    let after = count(run.text.len() - run.text.trim_end().len());
    if run.text.trim().is_empty() {
        return;
    }
    run.text = run.text.trim().to_owned();
    run.column += before;
    run.cells -= before + after;
}

/// A colour of the terminal's own sixteen; the console uses no other.
fn color(color: vt100::Color) -> &'static str {
    match color {
        vt100::Color::Default => FOREGROUND,
        vt100::Color::Idx(1 | 9) => "#ff7b72",
        vt100::Color::Idx(2 | 10) => "#7ee787",
        vt100::Color::Idx(5 | 13) => "#d8a6ff",
        vt100::Color::Idx(6 | 14) => "#79dfe8",
        other => panic!("the console uses a colour that the picture has no tone for: {other:?}"),
    }
}

/// Text as XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text whose spaces all stay: browsers make one of several, also where `xml:space` asks for them, and would stretch what
/// is left to the run's length.
fn spaced(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The text of a picture, a run a line.
pub fn text_of(svg: &str) -> String {
    let tags = regex::Regex::new("<[^>]*>").unwrap();
    let text = tags.replace_all(svg, "");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace('\u{a0}', " ")
}
