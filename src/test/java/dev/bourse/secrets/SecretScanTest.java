package dev.bourse.secrets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.secrets.SecretSamples.Sample;
import dev.bourse.secrets.SecretScan.Finding;
import dev.bourse.testing.Slow;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every kind of credential is found, at any place and with any split into pieces. */
@Tag("fast")
final class SecretScanTest {
  private static final List<Sample> SAMPLES = SecretSamples.all(1);
  private static final Set<String> JOINED =
      Set.of("secret-assignment", "url-password", "azure-key");
  private static final String PROSE =
      "The model was trained on 64 nodes for three days. See the report for the loss.\n";

  @Test
  void thereIsASampleForEveryRule() {
    TreeSet<String> rules = new TreeSet<>();
    SecretRule.ALL.forEach(rule -> rules.add(rule.name()));
    rules.remove("pypirc"); // holds in files of that name alone
    TreeSet<String> sampled = new TreeSet<>();
    SAMPLES.forEach(sample -> sampled.add(sample.rule()));
    assertEquals(rules, sampled);
  }

  @TestFactory
  Stream<DynamicTest> anywhereInAText() {
    return each(
        sample -> {
          expect(sample, PROSE, sample.text(), "\n" + PROSE);
          expect(sample, "", sample.text(), "\n" + PROSE);
          expect(sample, PROSE, sample.text(), "");
          expect(sample, "", sample.text(), "");
          expect(sample, PROSE.repeat(3000), sample.text(), "\n" + PROSE.repeat(3000));
        });
  }

  @TestFactory
  Stream<DynamicTest> inAStringOfJson() {
    return each(
        sample -> {
          String before = sample.text().substring(0, sample.at());
          String rest = sample.text().substring(sample.at());
          Finding expected = new Finding(sample.rule(), ("{\"a\":\"" + escaped(before)).length());
          String text = "{\"a\":\"" + escaped(before) + escaped(rest) + "\",\"b\":[1,2]}";
          assertEquals(Optional.of(expected), scan(text.getBytes(StandardCharsets.UTF_8)));
        });
  }

  @TestFactory
  Stream<DynamicTest> inABlockOfYaml() {
    return each(
        sample -> {
          String before = "data:\n  note: |\n    ";
          String indented = sample.text().replace("\n", "\n    ");
          int at = sample.text().substring(0, sample.at()).replace("\n", "\n    ").length();
          if (sample.text().startsWith("users:")) {
            return; // a user list of a kubeconfig stands in the first column; its file is tested
          }
          assertEquals(
              Optional.of(new Finding(sample.rule(), before.length() + at)),
              scan((before + indented + "\n  other: 1\n").getBytes(StandardCharsets.UTF_8)));
        });
  }

  @TestFactory
  Stream<DynamicTest> inBinaryNoise() {
    Random random = new Random(2);
    return each(
        sample -> {
          byte[] noise = new byte[100_000];
          random.nextBytes(noise);
          byte[] secret = ("\0" + sample.text() + "\0").getBytes(StandardCharsets.ISO_8859_1);
          System.arraycopy(secret, 0, noise, 50_000, secret.length);
          assertEquals(Optional.of(new Finding(sample.rule(), 50_001L + sample.at())), scan(noise));
        });
  }

  @TestFactory
  Stream<DynamicTest> inAPickle() {
    // Pickles write a short string after its length in one byte, which may be a letter, and before
    // an opcode.
    return SAMPLES.stream()
        .filter(sample -> sample.at() == 0 && !sample.text().contains("\n"))
        .filter(sample -> !JOINED.contains(sample.rule())) // the letter joins the name
        .map(
            sample ->
                DynamicTest.dynamicTest(
                    sample.label(),
                    () -> expect(sample, "\u0080\u0002\u008cl", sample.text(), "q\u0001.")));
  }

  @Test
  void aKeyInItsBinaryFormIsFoundAloneAndWithinWeights() {
    Random random = new Random(4);
    for (byte[] key : SecretSamples.binaryKeys()) {
      assertEquals(Optional.of(new Finding("private-key", 0)), scan(key), key.length + " bytes");
      byte[] weights = new byte[200_000];
      random.nextBytes(weights);
      System.arraycopy(key, 0, weights, 99_999, key.length);
      assertEquals(Optional.of(new Finding("private-key", 99_999)), scan(weights));
    }
  }

  @TestFactory
  Stream<DynamicTest> acrossEveryBorderOfTwoPieces() {
    return each(
        sample -> {
          byte[] file = (PROSE + sample.text() + "\n" + PROSE).getBytes(StandardCharsets.UTF_8);
          Finding expected = new Finding(sample.rule(), PROSE.length() + sample.at());
          int step = file.length > 3000 ? 37 : 1;
          for (int border = 0; border <= file.length; border += step) {
            SecretScan scan = new SecretScan("notes.txt");
            scan.inspect(file, 0, border);
            scan.inspect(file, border, file.length);
            assertEquals(Optional.of(expected), scan.end(), "border " + border);
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> acrossEveryBorderWithinTheScan() {
    // The buffer moves after this many bytes: a credential is placed at each offset around it.
    int moved = SecretText.BEFORE + 64 * 1024 + SecretText.AFTER;
    byte[] file = new byte[moved + 40_000];
    return each(
        sample -> {
          byte[] secret = ("\n" + sample.text() + "\n").getBytes(StandardCharsets.UTF_8);
          int length = Math.min(secret.length, 300);
          for (int border : List.of(moved, moved - SecretText.AFTER)) {
            for (int start = border - length; start <= border; start += 3) {
              Arrays.fill(file, (byte) '.');
              System.arraycopy(secret, 0, file, start, secret.length);
              assertEquals(
                  Optional.of(new Finding(sample.rule(), start + 1L + sample.at())),
                  scan(file),
                  "at " + start);
            }
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> byteByByte() {
    return each(
        sample -> {
          byte[] file = (PROSE.repeat(300) + sample.text() + "\n").getBytes(StandardCharsets.UTF_8);
          SecretScan scan = new SecretScan("notes.txt");
          for (int i = 0; i < file.length; i++) {
            scan.inspect(file, i, i + 1);
          }
          assertEquals(
              Optional.of(new Finding(sample.rule(), PROSE.length() * 300L + sample.at())),
              scan.end());
        });
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void thePiecesNeverChangeTheOutcome(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      byte[] file = scraps(random);
      Optional<Finding> whole = scan(file);
      for (int most : List.of(7, 1000, 70_000, 300_000)) {
        SecretScan scan = new SecretScan("scraps");
        for (int i = 0; i < file.length; ) {
          int to = Math.min(file.length, i + 1 + random.nextInt(most));
          scan.inspect(file, i, to);
          i = to;
        }
        assertEquals(whole, scan.end(), "pieces of up to " + most);
      }
    }
  }

  /** Fragments of credentials in fragments of text; some are complete by chance. */
  private static byte[] scraps(Random random) {
    StringBuilder text = new StringBuilder();
    while (text.length() < 150_000) {
      String sample = SAMPLES.get(random.nextInt(SAMPLES.size())).text();
      int from = random.nextInt(Math.min(20, sample.length()));
      int length = random.nextInt(random.nextInt(40) == 0 ? 100 : 12);
      text.append(sample, from, Math.min(sample.length(), from + length));
      text.append(PROSE, 0, random.nextInt(PROSE.length()));
    }
    return text.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  @TestFactory
  Stream<DynamicTest> drawnAnewNearlyAllAreFound() {
    // Random texts may look like words or placeholders: only a few of each kind may be missed.
    int draws = 40;
    List<List<Sample>> drawn =
        IntStream.range(0, draws).mapToObj(seed -> SecretSamples.all(1000 + seed)).toList();
    return IntStream.range(0, SAMPLES.size())
        .mapToObj(
            i ->
                DynamicTest.dynamicTest(
                    SAMPLES.get(i).label(),
                    () -> {
                      long missed =
                          drawn.stream()
                              .map(samples -> samples.get(i))
                              .filter(
                                  sample ->
                                      scan(sample.text().getBytes(StandardCharsets.UTF_8))
                                          .isEmpty())
                              .count();
                      assertTrue(missed <= 1, missed + " of " + draws + " missed");
                    }));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ".env",
        ".env.production",
        "deploy/.env",
        "C:\\work\\.ENV",
        ".netrc",
        "_netrc",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "home/.ssh/id_ed25519",
        "kubeconfig",
        "prod.kubeconfig",
        "kubeconfig.yaml",
        ".dockercfg"
      })
  void someFilesAreRefusedByTheirNameAlone(String name) {
    SecretScan scan = new SecretScan(name);
    Optional<Finding> expected = Optional.of(new Finding("file-name", 0));
    assertEquals(expected, scan.inspect(new byte[] {'x'}, 0, 1));
    assertEquals(expected, scan.end());
    assertEquals(expected, new SecretScan(name).end());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "id_rsa.pub",
        "id_ed25519.pub",
        ".env.example",
        "environment.yaml",
        "config.json",
        "server.key",
        "chain.pem",
        "credentials",
        ".npmrc",
        ".pypirc",
        "model.env.safetensors"
      })
  void otherFilesAreJudgedByWhatIsInThem(String name) {
    SecretScan scan = new SecretScan(name);
    byte[] text = PROSE.getBytes(StandardCharsets.UTF_8);
    scan.inspect(text, 0, text.length);
    assertEquals(Optional.empty(), scan.end());
  }

  @Test
  void anyPasswordOfAPypircIsFound() {
    byte[] text =
        "[pypi]\nusername = me\npassword = correct-horse\n".getBytes(StandardCharsets.UTF_8);
    SecretScan scan = new SecretScan(".pypirc");
    scan.inspect(text, 0, text.length);
    assertEquals(Optional.of(new Finding("pypirc", 21)), scan.end());
    assertEquals(Optional.empty(), scan(text));
  }

  @Test
  void theFirstFindingStays() {
    byte[] first = SAMPLES.get(0).text().getBytes(StandardCharsets.UTF_8);
    byte[] second = (SAMPLES.get(20).text() + "\n").getBytes(StandardCharsets.UTF_8);
    SecretScan scan = new SecretScan("two");
    scan.inspect(second, 0, second.length);
    scan.inspect(first, 0, first.length);
    byte[] padding = new byte[200_000];
    Optional<Finding> found = scan.inspect(padding, 0, padding.length);
    assertEquals(Optional.of(new Finding(SAMPLES.get(20).rule(), 0)), found);
    assertEquals(found, scan.inspect(first, 0, first.length));
    assertEquals(found, scan.end());
    assertEquals(found, scan.end());

    byte[] both =
        (SAMPLES.get(20).text() + "\n" + SAMPLES.get(0).text() + PROSE.repeat(1000))
            .getBytes(StandardCharsets.UTF_8);
    assertEquals(found, scan(both));
  }

  @Test
  @Slow("scans more bytes than an int counts")
  void aFileFarLargerThanMemoryKeepsItsOffsets() {
    byte[] padding = new byte[1 << 20];
    byte[] secret = SAMPLES.get(0).text().getBytes(StandardCharsets.UTF_8);
    SecretScan scan = new SecretScan("weights.bin");
    // More bytes than an int counts, and than the heap holds.
    long length = (2L << 30) + padding.length;
    for (long sent = 0; sent < length; sent += padding.length) {
      scan.inspect(padding, 0, padding.length);
    }
    scan.inspect(secret, 0, secret.length);
    assertEquals(Optional.of(new Finding(SAMPLES.get(0).rule(), length)), scan.end());
  }

  @Test
  void afterTheEndNothingMayCome() {
    SecretScan scan = new SecretScan("notes.txt");
    assertEquals(Optional.empty(), scan.end());
    assertThrows(IllegalStateException.class, () -> scan.inspect(new byte[1], 0, 1));
  }

  @Test
  void theRangeMustBeWithinTheArray() {
    SecretScan scan = new SecretScan("notes.txt");
    assertThrows(IndexOutOfBoundsException.class, () -> scan.inspect(new byte[4], 2, 5));
  }

  private static Stream<DynamicTest> each(Consumer<Sample> test) {
    return SAMPLES.stream()
        .map(sample -> DynamicTest.dynamicTest(sample.label(), () -> test.accept(sample)));
  }

  private static void expect(Sample sample, String before, String text, String after) {
    assertEquals(
        Optional.of(new Finding(sample.rule(), before.length() + (long) sample.at())),
        scan((before + text + after).getBytes(StandardCharsets.ISO_8859_1)));
  }

  private static Optional<Finding> scan(byte[] file) {
    SecretScan scan = new SecretScan("notes.txt");
    scan.inspect(file, 0, file.length);
    return scan.end();
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
