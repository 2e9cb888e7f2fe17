package dev.bourse.secrets;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The secret scan of 16 MiB that arrive in blocks of 256 KiB; operations a second times 16.8 are MB
 * a second of one core.
 *
 * <p>Run: {@code mvn -Pbench test-compile}, then {@code org.openjdk.jmh.Main SecretScanBench} on
 * the test class path, as {@code scripts/bench} does. Goal: 700 MB/s of text.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
public class SecretScanBench {
  private static final int FILE = 16 << 20;
  private static final int BLOCK = 256 << 10;

  private static final String MARKDOWN =
      """
      ## How to use
      Install `transformers`, then `huggingface-cli login --token hf_your_token_here`, or set
      `HF_TOKEN=<your-token>`. The tokenizer knows 32,000 tokens; the machine learning task-specific
      head is trained apart. | metric | value | |---|---| | loss | 1.87 | | accuracy | 0.713 |
      """;
  private static final String JSON =
      """
      {"model.layers.%d.self_attn.q_proj.weight":{"dtype":"BF16","shape":[4096,4096],
       "data_offsets":[33554432,67108864]},"special_tokens_map":{"bos_token":"<s>","unk_token":
       {"content":"<unk>","lstrip":false}},"vocab":{"\u0120the":262,"ing":278}}
      """;
  private static final String CODE =
      """
      def load(path, token=None):
          token = token or os.environ["API_KEY"]
          state = torch.load(path, map_location="cpu", weights_only=True)
          for name, tensor in state.items():
              if name.endswith("k_proj.bias") and tensor.ndim > 1: raise ValueError(f"bad {name}")
          return {k.replace("module.", ""): v for k, v in state.items()}
      """;

  /** What the file is made of; the last ones are nothing but what makes rules work. */
  @Param({
    "text",
    "base64",
    "random",
    "sk-",
    "begin",
    "begin-key",
    "jwt",
    "aws",
    "glpat",
    "assignments",
    "placeholders",
    "netrc",
    "kubeconfig",
    "addresses",
    "signatures",
    "encoded",
    "checksums"
  })
  public String content = "text";

  private byte[] file = {};

  @Setup
  public void fill() {
    Random random = new Random(1);
    file =
        switch (content) {
          case "text" -> text(random);
          case "base64" -> base64(random);
          case "random" -> binary(random);
          case "sk-" -> repeat("sk-");
          case "begin" -> repeat("-----BEGIN ");
          case "begin-key" -> repeat("-----BEGIN " + "PRIVATE KEY-----\nA: b\n");
          case "jwt" -> repeat("eyJhbGciOiJIUzI1NiJ9.eyJhbGciOiJIUzI1NiJ9.e ");
          case "aws" -> repeat("AKIA" + "Q3EGRT5FZP2XKD7W ");
          case "glpat" -> repeat("glpat-");
          case "assignments" -> repeat("TOKEN=");
          case "placeholders" -> repeat("ghp_" + "Zk3PqV9sLw8TdRb1yourN5mXc7JgHf2Qa4Ue ");
          case "netrc" -> repeat("\nmachine a.b login x account y ");
          case "kubeconfig" -> repeat("users:\n token: abcdefghijk7LmnopqrstuvAAAAAAA\n");
          case "addresses" -> repeat("https://a:b@");
          case "signatures" -> repeat("&sig=" + "Zk3PqV9sLw8TdRb1rN5mXc7JgHf2Qa4UeT1xY2Zk3PqV9sL");
          case "encoded" -> encoded(text(random));
          case "checksums" -> checksums(random);
          default -> throw new IllegalArgumentException(content);
        };
  }

  private static byte[] repeat(String part) {
    return part.repeat(FILE / part.length()).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] text(Random random) {
    StringBuilder text = new StringBuilder();
    while (text.length() < FILE) {
      switch (random.nextInt(3)) {
        case 0 -> text.append(MARKDOWN);
        case 1 -> text.append(JSON.formatted(random.nextInt(80)));
        default -> text.append(CODE);
      }
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] base64(Random random) {
    byte[] lines = new byte[FILE / 4 * 3];
    random.nextBytes(lines);
    return java.util.Base64.getMimeEncoder().encode(lines);
  }

  private static byte[] encoded(byte[] text) {
    return java.util.Base64.getMimeEncoder().encode(java.util.Arrays.copyOf(text, FILE / 4 * 3));
  }

  private static byte[] checksums(Random random) {
    StringBuilder text = new StringBuilder();
    byte[] sum = new byte[32];
    while (text.length() < FILE) {
      random.nextBytes(sum);
      text.append(java.util.HexFormat.of().formatHex(sum)).append("  data/part.parquet\n");
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] binary(Random random) {
    byte[] bytes = new byte[FILE];
    random.nextBytes(bytes);
    return bytes;
  }

  @Benchmark
  public Optional<SecretScan.Finding> scan() {
    SecretScan scan = new SecretScan("model.bin");
    for (int from = 0; from < file.length; from += BLOCK) {
      scan.inspect(file, from, Math.min(file.length, from + BLOCK));
    }
    Optional<SecretScan.Finding> found = scan.end();
    if (found.isPresent()) {
      throw new IllegalStateException("the whole file was to be read, not " + found);
    }
    return found;
  }
}
