//! The binary's entry point; all code is in the library.

fn main() -> std::process::ExitCode {
    labscope::cli::main()
}
