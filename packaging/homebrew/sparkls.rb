# A formula for a tap; packaging/release.py fills in the names in capitals, the version and the checksums.
class Sparkls < Formula
  desc "Language server and linter for Apache Spark"
  homepage "https://github.com/@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/sparkls-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:sparkls-aarch64-apple-darwin.tar.gz@"
    end
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/sparkls-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:sparkls-x86_64-apple-darwin.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/sparkls-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:sparkls-aarch64-unknown-linux-gnu.tar.gz@"
    end
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/sparkls-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256:sparkls-x86_64-unknown-linux-gnu.tar.gz@"
    end
  end

  def install
    bin.install "sparkls"
    man1.install Dir["man1/*.1"]
    generate_completions_from_executable(bin/"sparkls", "completions")
  end

  test do
    (testpath/"spark-defaults.conf").write("spark.executor.memory  4 g\n")
    assert_match "invalid-value", shell_output("#{bin}/sparkls check spark-defaults.conf", 1)
  end
end
