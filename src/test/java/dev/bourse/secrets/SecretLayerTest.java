package dev.bourse.secrets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.secrets.SecretSamples.Sample;
import dev.bourse.secrets.SecretScan.Finding;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Credentials in UTF-16 text and in compressed files. */
@Tag("fast")
class SecretLayerTest {
  private static final String PROSE =
      "The model was trained on 64 nodes for three days. Größe: 7 GB. See the report.\n";

  private static Optional<Finding> scan(String name, byte[] file) {
    SecretScan scan = new SecretScan(name);
    scan.inspect(file, 0, file.length);
    return scan.end();
  }

  private static Optional<Finding> scan(String name, byte[] file, Random random) {
    SecretScan scan = new SecretScan(name);
    for (int at = 0; at < file.length; ) {
      int end = Math.min(file.length, at + random.nextInt(5_000));
      scan.inspect(file, at, end);
      at = end;
    }
    return scan.end();
  }

  private static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(all::writeBytes);
    return all.toByteArray();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @TestFactory
  Stream<DynamicTest> everyKindIsFoundInUtf16() {
    return SecretSamples.all(5).stream()
        .filter(sample -> sample.text().chars().allMatch(c -> c < 0x80))
        .map(
            sample ->
                DynamicTest.dynamicTest(
                    sample.label(),
                    () -> {
                      inUtf16(sample, StandardCharsets.UTF_16LE);
                      inUtf16(sample, StandardCharsets.UTF_16BE);
                    }));
  }

  private static void inUtf16(Sample sample, Charset charset) {
    inUtf16(sample, "\ufeff", charset);
    inUtf16(sample, "", charset);
  }

  private static void inUtf16(Sample sample, String mark, Charset charset) {
    String text = mark + PROSE + sample.text() + "\n" + PROSE.repeat(300);
    byte[] file = text.getBytes(charset);
    long at = 2L * (mark.length() + PROSE.length() + sample.at());
    Optional<Finding> expected = Optional.of(new Finding(sample.rule(), at));
    assertEquals(expected, scan("notes.txt", file));
    assertEquals(expected, scan("notes.txt", file, new Random(6)));
    SecretScan each = new SecretScan("notes.txt");
    for (int i = 0; i < Math.min(file.length, 4_000); i++) {
      each.inspect(file, i, i + 1);
    }
    each.inspect(file, Math.min(file.length, 4_000), file.length);
    assertEquals(expected, each.end());
  }

  @TestFactory
  Stream<DynamicTest> everyKindIsFoundInGzip() {
    return SecretSamples.all(7).stream()
        .map(
            sample ->
                DynamicTest.dynamicTest(
                    sample.label(),
                    () -> {
                      byte[] file =
                          gzip(utf8(PROSE.repeat(900) + sample.text() + "\n" + PROSE.repeat(400)));
                      long at = (long) utf8(PROSE.repeat(900)).length + sample.at();
                      Optional<Finding> expected = Optional.of(new Finding(sample.rule(), at));
                      assertEquals(expected, scan("notes.txt.gz", file));
                      assertEquals(expected, scan("weights", file, new Random(8)));
                    }));
  }

  private static String token() {
    return SecretSamples.all(9).stream()
        .filter(sample -> sample.rule().equals("github-token"))
        .findFirst()
        .orElseThrow()
        .text();
  }

  @Test
  void everyMemberOfAGzipFileIsLookedInto() {
    byte[] file = join(gzip(utf8(PROSE)), gzip(new byte[0]), gzip(utf8(token())));
    assertEquals("github-token", scan("a.gz", file).orElseThrow().rule());
    for (int border = 0; border < file.length; border++) {
      SecretScan scan = new SecretScan("a.gz");
      scan.inspect(file, 0, border);
      scan.inspect(file, border, file.length);
      assertEquals(
          Optional.of(new Finding("github-token", utf8(PROSE).length)), scan.end(), "" + border);
    }
  }

  @Test
  void aGzipHeaderMayHaveEverythingItMayHave() {
    byte[] header = {0x1f, (byte) 0x8b, 8, 30, 0, 0, 0, 0, 0, 3};
    byte[] extra = {3, 0, 'a', 'b', 'c'};
    byte[] names = utf8("name\0comment\0");
    CRC32 sum = new CRC32();
    sum.update(join(header, extra, names));
    byte[] headerSum = {(byte) sum.getValue(), (byte) (sum.getValue() >> 8)};
    byte[] plain = gzip(utf8(token()));
    byte[] file =
        join(header, extra, names, headerSum, Arrays.copyOfRange(plain, 10, plain.length));
    assertEquals("github-token", scan("a", file).orElseThrow().rule());
  }

  @Test
  void utf16IsFoundInGzip() {
    byte[] text = ("\ufeff" + token()).getBytes(StandardCharsets.UTF_16LE);
    assertEquals("github-token", scan("a.gz", gzip(text)).orElseThrow().rule());
  }

  @ParameterizedTest
  @ValueSource(strings = {"prod.env.gz", ".netrc.gz", "id_rsa.xz"})
  void aPackedFileIsJudgedByTheNameOfWhatIsPacked(String name) {
    assertEquals(Optional.of(new Finding("file-name", 0)), new SecretScan(name).end());
  }

  @Test
  void whatUnpacksToTerabytesIsLookedIntoUpToABound() throws Exception {
    Deflater deflater = new Deflater(9, true);
    byte[] zeros = new byte[1 << 20];
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    packed.writeBytes(new byte[] {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, 3});
    byte[] out = new byte[1 << 16];
    for (int i = 0; i < 512; i++) {
      deflater.setInput(zeros);
      int length;
      while ((length = deflater.deflate(out, 0, out.length, Deflater.SYNC_FLUSH)) > 0) {
        packed.write(out, 0, length);
      }
    }
    deflater.end();
    byte[] file = packed.toByteArray();
    assertTrue(file.length < 1 << 20, file.length + " bytes");
    Unpacking whole = new Unpacking();
    whole.addSent(file.length);
    GzipLayer layer = new GzipLayer("bomb.gz", 0, whole);
    layer.inspect(file, 0, file.length);
    assertTrue(whole.unpacked() <= Unpacking.MOST + (1 << 16), whole.unpacked() + " bytes");
    Unpacking part = new Unpacking();
    part.addSent(10_000);
    GzipLayer small = new GzipLayer("bomb.gz", 0, part);
    small.inspect(file, 0, 10_000);
    assertTrue(part.unpacked() <= 10_000L * Unpacking.RATIO + (1 << 17), "" + part.unpacked());
    assertEquals(Optional.empty(), layer.end());
    assertEquals(Optional.empty(), small.end());
  }

  @Test
  void behindTheBoundTheFilesOwnBytesAreStillScanned() {
    byte[] file = join(gzip(new byte[80 << 20]), utf8("\n" + token() + "\n"));
    assertEquals("github-token", scan("a.gz", file).orElseThrow().rule());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void whateverFollowsTheMarksNothingBreaks(long seed) {
    Random random = new Random(seed);
    for (byte[] start :
        List.of(
            new byte[] {0x1f, (byte) 0x8b},
            new byte[] {0x1f, (byte) 0x8b, 8, 0},
            new byte[] {0x1f, (byte) 0x8b, 8, 31, 0, 0, 0, 0, 0, 0},
            new byte[] {(byte) 0xff, (byte) 0xfe},
            new byte[] {(byte) 0xfe, (byte) 0xff},
            Arrays.copyOf(gzip(utf8(PROSE.repeat(100))), 200))) {
      byte[] noise = new byte[random.nextInt(100_000)];
      random.nextBytes(noise);
      assertEquals(Optional.empty(), scan("weights.bin", join(start, noise), random));
      scan("weights.bin", start, random);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DB_HOST=db.example.com\nDB_PASSWORD=hunter2\n",
        "export PGUSER=x\nexport PGPASSWORD='s3cr3t!'\n",
        "# the database\nDB_PASS=qwe123\n\n# the port\nPORT=5432\n",
        "A=1\nREDIS_PASSWORD=\"hunter22\"\nB=2",
        "MYSQL_PWD=winter24\nMYSQL_HOST=db\n",
        "APP_NAME=x\r\nAPP_SECRET=t0ps3c\r\nPORT=1\r\n"
      })
  void aShortPasswordAmongLinesOfAnEnvironmentIsFound(String text) {
    assertEquals("secret-assignment", scan("settings", utf8(text)).orElseThrow().rule());
    String middle = PROSE.repeat(2_000) + text + PROSE;
    assertEquals("secret-assignment", scan("settings", utf8(middle)).orElseThrow().rule());
  }

  @ParameterizedTest
  @ValueSource(strings = {"env", "env.txt", "prod-env.sh", "my.env.bak", "staging_env"})
  void inAFileNamedForItOneLineIsEnough(String name) {
    assertEquals(
        Optional.of(new Finding("secret-assignment", 0)),
        scan(name, utf8("DB_PASSWORD=hunter2\n")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "To log in set DB_PASSWORD=hunter2 and go on.\n",
        "DB_HOST=db\nDB_PASSWORD=$1\n",
        "DB_HOST=db\nDB_PASSWORD=${DB_PASSWORD:-x1}\n",
        "DB_HOST=db\nDB_PASSWORD=your-password-1\n",
        "DB_HOST=db\nDB_PASSWORD=<pass1>\n",
        "DB_HOST=db\nDB_PASSWORD=postgres\n",
        "DB_HOST=db\nDB_PASSWORD=\n",
        "DB_HOST=db\nDB_PASSWORD=/run/s1\n",
        "DB_HOST=db\nDB_PASSWORD_FILE=pw1file\n",
        "BOS_TOKEN=tok128\nEOS_TOKEN=tok129\n",
        "MAX_LEN=1\nUSE_SECRET=false\n",
        "X = 1\npassword=hunter2\ny = 2\n"
      })
  void whatOnlyLooksLikeOneIsNot(String text) {
    assertEquals(Optional.empty(), scan("settings", utf8(text)));
    assertEquals(Optional.empty(), scan("env.example", utf8(text)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"prod.env", "deploy/staging.env", ".envrc", "prod.env.gz"})
  void filesOfEnvironmentsAreRefusedByTheirName(String name) {
    assertEquals(Optional.of(new Finding("file-name", 0)), new SecretScan(name).end());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"example.env", "sample.env", ".envrc.example", "environment", "inventory.txt"})
  void templatesAndOtherFilesAreNot(String name) {
    assertEquals(Optional.empty(), new SecretScan(name).end());
  }
}
