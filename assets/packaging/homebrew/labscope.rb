# A Homebrew formula, built from an archive of the source (see assets/packaging/README.md) beside this file,
# then: brew install --formula --build-from-source ./labscope.rb
class Labscope < Formula
  desc "Terminal client for GitLab-compatible servers: browse, review, watch"
  version "0.1.0"
  # Made on this computer a moment ago, so there is no checksum.
  url "file://#{__dir__}/labscope-#{version}.tar.gz"
  license "MIT"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    (man1/"labscope.1").write Utils.safe_popen_read(bin/"labscope", "man")
    generate_completions_from_executable(bin/"labscope", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/labscope --version")
    assert_match "Global options", shell_output("#{bin}/labscope --help")
  end
end
