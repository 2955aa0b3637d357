# Not tried: there was no Homebrew where this was written; `ruby -c` reads it. A release fills in `url` and `sha256`.
class DynoHttp < Formula
  desc "Benchmark for HTTP servers that says whether its numbers can be believed"
  homepage "https://example.invalid/dyno"
  url "https://example.invalid/dyno/archive/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/dyno")
    # Agents that meet at a NATS broker: beside dyno, where it is looked for.
    system "cargo", "install", *std_cargo_args(path: "carriers/nats")
    (buildpath/"pages").mkpath
    system bin/"dyno", "man", "--to", buildpath/"pages"
    man1.install Dir["pages/*.1"]
    generate_completions_from_executable(bin/"dyno", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/dyno --version")
    assert_match "oracle", shell_output("#{bin}/dyno servers list")
  end
end
