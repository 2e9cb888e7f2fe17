package dev.bourse.secrets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.secrets.SecretScan.Finding;
import dev.bourse.testing.Slow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** Credentials in archives, in files compressed with tools other than gzip, and in encoded text. */
@Tag("fast")
class SecretArchiveTest {
  private static final String PROSE =
      "The model was trained on 64 nodes for three days. See the report for the loss.\n";

  private static final String TOKEN =
      SecretSamples.all(9).stream()
          .filter(sample -> sample.rule().equals("github-token"))
          .findFirst()
          .orElseThrow()
          .text();

  private static final byte[] TEXT = utf8(PROSE.repeat(500) + TOKEN + "\n" + PROSE.repeat(300));
  private static final long PLACE = 500L * PROSE.length();

  /** Wraps a stream around the output. */
  private interface Packing {
    void pack(OutputStream out) throws IOException;
  }

  private static byte[] packed(Packing packing) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      packing.pack(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] gzip(byte[] bytes) {
    return packed(
        out -> {
          try (GZIPOutputStream packed = new GZIPOutputStream(out)) {
            packed.write(bytes);
          }
        });
  }

  private static byte[] bzip2(byte[] bytes) {
    return packed(
        out -> {
          try (OutputStream packed = new BZip2CompressorOutputStream(out)) {
            packed.write(bytes);
          }
        });
  }

  private static byte[] xz(byte[] bytes) {
    return xz(bytes, LZMA2Options.PRESET_DEFAULT);
  }

  private static byte[] xz(byte[] bytes, int preset) {
    return packed(
        out -> {
          try (OutputStream packed = new XZOutputStream(out, new LZMA2Options(preset))) {
            packed.write(bytes);
          }
        });
  }

  /** A zip with two members; the second contains the bytes. */
  private static byte[] zip(String name, byte[] bytes) {
    return packed(
        out -> {
          try (ZipOutputStream packed = new ZipOutputStream(out)) {
            packed.putNextEntry(new ZipEntry("first.txt"));
            packed.write(utf8(PROSE));
            packed.putNextEntry(new ZipEntry(name));
            packed.write(bytes);
          }
        });
  }

  private static byte[] storedZip(String name, byte[] bytes) {
    return packed(
        out -> {
          try (ZipOutputStream packed = new ZipOutputStream(out)) {
            for (byte[] member : new byte[][] {utf8(PROSE), bytes}) {
              ZipEntry entry = new ZipEntry(member == bytes ? name : "first.txt");
              CRC32 sum = new CRC32();
              sum.update(member);
              entry.setMethod(ZipEntry.STORED);
              entry.setSize(member.length);
              entry.setCrc(sum.getValue());
              packed.putNextEntry(entry);
              packed.write(member);
            }
          }
        });
  }

  /** A zip written without seeking: its members' lengths come after them. */
  private static byte[] openZip(String name, byte[] bytes) {
    return packed(
        out -> {
          try (ZipArchiveOutputStream packed = new ZipArchiveOutputStream(out)) {
            ZipArchiveEntry entry = new ZipArchiveEntry(name);
            packed.putArchiveEntry(entry);
            packed.write(bytes);
            packed.closeArchiveEntry();
          }
        });
  }

  private static byte[] tar(String name, byte[] bytes) {
    return packed(
        out -> {
          try (TarArchiveOutputStream packed = new TarArchiveOutputStream(out)) {
            packed.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            for (byte[] member : new byte[][] {utf8(PROSE), bytes}) {
              TarArchiveEntry entry = new TarArchiveEntry(member == bytes ? name : "first.txt");
              entry.setSize(member.length);
              packed.putArchiveEntry(entry);
              packed.write(member);
              packed.closeArchiveEntry();
            }
          }
        });
  }

  private static Optional<Finding> scan(byte[] file) {
    SecretScan scan = new SecretScan("upload.bin");
    scan.inspect(file, 0, file.length);
    return scan.end();
  }

  private static Optional<Finding> scan(byte[] file, Random random, int most) {
    SecretScan scan = new SecretScan("upload.bin");
    for (int at = 0; at < file.length; ) {
      int end = Math.min(file.length, at + 1 + random.nextInt(most));
      scan.inspect(file, at, end);
      at = end;
    }
    return scan.end();
  }

  private static Map<String, byte[]> containers() {
    Map<String, byte[]> all = new LinkedHashMap<>();
    all.put("bzip2", bzip2(TEXT));
    all.put("xz", xz(TEXT));
    all.put("gzip in gzip", gzip(gzip(TEXT)));
    all.put("four times gzip", gzip(gzip(gzip(gzip(TEXT)))));
    all.put("xz in bzip2", bzip2(xz(TEXT)));
    all.put("zip: run/log.txt", zip("run/log.txt", TEXT));
    all.put("zip of gzip: run/log.gz", storedZip("run/log.gz", gzip(TEXT)));
    all.put("zip, its length behind it: run/log.txt", openZip("run/log.txt", TEXT));
    all.put("tar of gzip: run/log.gz", tar("run/log.gz", gzip(TEXT)));
    all.put("tar of zip: run/log.zip/log.txt", tar("run/log.zip", zip("log.txt", TEXT)));
    all.put(
        "tar in gzip in tar: a.tgz/b/log.bz2", tar("a.tgz", gzip(tar("b/log.bz2", bzip2(TEXT)))));
    String longName = "a/".repeat(80) + "log.xz";
    all.put("tar with a long name: " + longName, tar(longName, xz(TEXT)));
    return all;
  }

  @TestFactory
  Stream<DynamicTest> inContainers() {
    return containers().entrySet().stream()
        .map(
            one ->
                DynamicTest.dynamicTest(
                    one.getKey(),
                    () -> {
                      int colon = one.getKey().indexOf(": ");
                      String member = colon < 0 ? "" : one.getKey().substring(colon + 2);
                      Optional<Finding> expected =
                          Optional.of(new Finding("github-token", PLACE, member));
                      assertEquals(expected, scan(one.getValue()));
                      assertEquals(expected, scan(one.getValue(), new Random(1), 7));
                      assertEquals(expected, scan(one.getValue(), new Random(2), 3_000));
                    }));
  }

  @Test
  void behindTheDepthOfFourNothingIsLookedInto() {
    assertEquals(Optional.empty(), scan(gzip(gzip(gzip(gzip(gzip(TEXT)))))));
  }

  @Test
  void plainMembersOfATarAreFoundInTheFileItself() {
    Finding found = scan(tar("run/log.txt", TEXT)).orElseThrow();
    assertEquals("github-token", found.rule());
    assertEquals("", found.member());
  }

  @ParameterizedTest
  @ValueSource(strings = {"deploy/.env", "home/.ssh/id_rsa", ".kube/prod.kubeconfig"})
  void membersAreJudgedByTheirNames(String name) {
    Optional<Finding> expected = Optional.of(new Finding("file-name", 0, name));
    assertEquals(expected, scan(zip(name, utf8(PROSE))));
    assertEquals(expected, scan(storedZip(name, utf8(PROSE))));
    assertEquals(expected, scan(tar(name, utf8(PROSE))));
    Finding packed = scan(gzip(tar(name, utf8(PROSE)))).orElseThrow();
    assertEquals(expected, Optional.of(packed));
  }

  @Test
  void settingsInAnArchiveAreJudgedAsInAFile() {
    byte[] settings = utf8("[pypi]\nusername = me\npassword = correct-horse\n");
    assertEquals(
        Optional.of(new Finding("pypirc", 21, "home/.pypirc")),
        scan(tar("home/.pypirc", settings)));
  }

  private static Map<String, byte[]> encodings() {
    byte[] secret = utf8("export GITHUB=" + TOKEN + "\n");
    String line = Base64.getEncoder().encodeToString(secret);
    byte[] lines = utf8("the first words of a file\n" + PROSE.repeat(3) + TOKEN + "\n");
    Map<String, byte[]> all = new LinkedHashMap<>();
    all.put("base64 in a line", utf8(line));
    all.put("base64 of YAML", utf8("data:\n  token: " + line + "\n"));
    all.put("base64 of JSON", utf8("{\"data\":\"" + line + "\"}"));
    all.put("base64 in lines", Base64.getMimeEncoder().encode(lines));
    String mime = Base64.getMimeEncoder(76, new byte[] {'\n'}).encodeToString(lines);
    all.put("base64 in lines of JSON", utf8("\"" + mime.replace("\n", "\\n") + "\""));
    all.put("base64 in lines of YAML", utf8("a: |\n    " + mime.replace("\n", "\n    ")));
    all.put("base64 of gzip", Base64.getEncoder().encode(gzip(lines)));
    all.put("base64 twice", Base64.getEncoder().encode(utf8(line)));
    all.put("base64 of UTF-16", utf8(utf16(lines)));
    all.put("hexadecimal digits", utf8(HexFormat.of().formatHex(secret)));
    all.put("capital digits", utf8(HexFormat.of().withUpperCase().formatHex(secret)));
    all.put("digits in lines", utf8(HexFormat.of().formatHex(lines).replaceAll("(.{60})", "$1\n")));
    return all;
  }

  /** The encoding of PowerShell commands. */
  private static String utf16(byte[] text) {
    return Base64.getEncoder()
        .encodeToString(
            new String(text, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_16LE));
  }

  @TestFactory
  Stream<DynamicTest> inEncodedText() {
    return encodings().entrySet().stream()
        .map(
            one ->
                DynamicTest.dynamicTest(
                    one.getKey(),
                    () -> {
                      for (int shift = 0; shift < 40; shift++) {
                        String before = PROSE.repeat(shift * 60) + ".".repeat(shift) + "\n";
                        byte[] file = join(utf8(before), one.getValue(), utf8("\n" + PROSE));
                        Optional<Finding> found = scan(file);
                        assertEquals("github-token", found.map(Finding::rule).orElse("none"));
                        long at = found.orElseThrow().offset();
                        assertTrue(
                            at >= before.length() && at < before.length() + 20,
                            at + " is not near " + before.length());
                        assertEquals(found, scan(file, new Random(shift), 3_000));
                      }
                    }));
  }

  @Test
  void aBinaryKeyIsFoundInBase64() {
    for (byte[] key : SecretSamples.binaryKeys()) {
      String text = "key: " + Base64.getEncoder().encodeToString(key) + "\n";
      assertEquals(
          Optional.of(new Finding("private-key", 5)), scan(utf8(text)), key.length + " bytes");
    }
  }

  @Test
  void aLongRunIsDecodedToItsEnd() {
    byte[] file = Base64.getEncoder().encode(join(utf8(PROSE.repeat(9_000)), utf8(TOKEN + "\n")));
    assertEquals(Optional.of(new Finding("github-token", 0)), scan(file));
    assertEquals(Optional.of(new Finding("github-token", 0)), scan(file, new Random(3), 9_000));
  }

  @Test
  @Slow("packs and unpacks the bound of 64 MiB with five packers")
  void whatUnpacksToFarMoreThanItsSizeIsLookedIntoUpToTheBound() {
    byte[] zeros = new byte[(int) Unpacking.MOST + (4 << 20)];
    byte[] behind = join(zeros, utf8("\n" + TOKEN + "\n"));
    assertEquals(Optional.empty(), scan(gzip(behind)));
    assertEquals(Optional.empty(), scan(zip("zeros", behind)));
    assertEquals(Optional.empty(), scan(gzip(gzip(behind))));
    assertEquals(Optional.empty(), scan(bzip2(behind)));
    // The fastest preset: the others take seconds to pack zeros.
    assertEquals(Optional.empty(), scan(xz(behind, 0)));
  }

  @Test
  void millionsOfMembersAreLookedIntoUpToTheBound() {
    byte[] file =
        packed(
            out -> {
              try (ZipOutputStream packed = new ZipOutputStream(out)) {
                for (int i = 0; i < Unpacking.MEMBERS; i++) {
                  packed.putNextEntry(new ZipEntry(Integer.toString(i, 36)));
                }
                packed.putNextEntry(new ZipEntry("deploy/.env"));
              }
            });
    assertEquals(Optional.empty(), scan(file));
  }

  @Test
  void aPlaceOfASlowUnpackerIsGivenBack() {
    int free = Unpacking.slowPlaces().availablePermits();
    for (byte[] file :
        new byte[][] {bzip2(TEXT), xz(TEXT), bzip2(utf8(PROSE)), Arrays.copyOf(xz(TEXT), 40)}) {
      scan(file);
      assertEquals(free, Unpacking.slowPlaces().availablePermits());
    }
  }

  @Test
  void whileNoPlaceIsFreeTheFilesOwnBytesAreScanned() {
    int free = Unpacking.slowPlaces().drainPermits();
    try {
      assertEquals(Optional.empty(), scan(bzip2(TEXT)));
      assertEquals("github-token", scan(join(bzip2(TEXT), TEXT)).map(Finding::rule).orElseThrow());
    } finally {
      Unpacking.slowPlaces().release(free);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void damagedArchivesBreakNothing(long seed) {
    Random random = new Random(seed);
    for (byte[] whole : containers().values()) {
      for (int round = 0; round < 12; round++) {
        byte[] file = Arrays.copyOf(whole, 1 + random.nextInt(whole.length + 1_000));
        int places = 1 + random.nextInt(20);
        for (int i = 0; i < places; i++) {
          file[random.nextInt(random.nextBoolean() ? file.length : Math.min(600, file.length))] =
              (byte) random.nextInt(256);
        }
        scan(file, random, 5_000);
      }
    }
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(all::writeBytes);
    return all.toByteArray();
  }
}
