//! What reads text from outside, fed with text that nobody meant: each reader keeps a promise beyond "it does not break".
//!
//! Every target begins with its kept inputs (`tests/fixtures/corpus/TARGET/`), each of them as it is, and goes on with
//! changed ones. `UNSTUCK_FUZZ_INPUTS` says how many, `UNSTUCK_FUZZ_SEED` which; without them it is always the same few.
//! An input that breaks a promise is kept under `target/fuzz/`; copied into the corpus, it is tried first from then on. What a
//! target is trying lies there as `TARGET-at-work`, for an input that ends the whole process.

mod answers;
mod engine;
mod presets;
mod record;
mod texts;

use engine::Target;
use rstest::rstest;

#[rstest]
#[case::times("times", texts::a_time_is_written_back_as_it_was_read)]
#[case::durations("durations", texts::a_duration_is_the_same_in_another_spelling)]
#[case::errors("errors", texts::an_error_proves_the_same_with_space_around_it_and_nothing_before_a_time_out)]
#[case::masks("masks", texts::a_named_field_stays_hidden_wherever_the_text_is_cut)]
#[case::cells("cells", texts::what_is_shown_is_harmless_and_what_is_written_means_the_same)]
#[case::filters("filters", texts::the_quick_answer_of_a_filter_is_the_slow_one)]
#[case::source_presets("source_presets", presets::a_source_preset_guards_what_it_writes)]
#[case::provider_presets("provider_presets", presets::a_provider_preset_only_reads)]
#[case::configurations("configurations", presets::a_configuration_is_whole_or_told_in_a_line)]
#[case::templates("templates", presets::a_template_is_never_silently_empty)]
#[case::answers("answers", answers::a_part_of_an_answer_is_never_an_answer)]
#[case::rows("rows", record::a_row_is_read_only_as_it_was_written)]
#[case::audits("audits", record::an_audit_that_is_whole_tells_what_was_written)]
fn a_promise_holds_for_texts_that_nobody_meant(#[case] name: &str, #[case] promise: engine::Promise) {
    Target { name, promise }.run();
}
