package dev.bourse.sshkeys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Valid and invalid public keys of tenants. */
class SshPublicKeyTest {
  private static final String ED25519 =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBFgubrSY9KbX+lftCPaCf6i8eD10f/EnbJIDYfLPdY7";

  private static final String RSA_1024 =
      "ssh-rsa"
          + " AAAAB3NzaC1yc2EAAAADAQABAAAAgQCfZ3SWlz4HK/xhQuZf+VnVIKMfFyHZB/0Yrp2w1tOrQdAa1YgM4KSpbVAhRzRvCGkt2/IVwIEDdpROFyqRqGD8zJoaD7AnpoGY8ktgCDfI+abSI/Av8bA/50miW1425jZpHg6lKG5ACa2m6ac5BEnFcJLtHgtNVkDQI1XcbxveZw==";

  private static final String SK_ED25519 = "sk-ssh-ed25519@openssh.com";
  private static final String SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ssh-ed25519"
            + " AAAAC3NzaC1lZDI1NTE5AAAAIBFgubrSY9KbX+lftCPaCf6i8eD10f/EnbJIDYfLPdY7|SHA256:OUlyv4pWfdeDzvG+lb2WyDL5bzoH27Fio3+czKMssjo",
        "ecdsa-sha2-nistp256"
            + " AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHMe9/HFSQCgS4i+HNqfGJBsJFujjEebzqLA8vIl+RfxYgWzKxETAkItFj91pGP7k9v7t3EFdth2maeNk8ZaBQc=|SHA256:IE6nwXIYxZrM4QtV/TrKFBWztsemxtcQ9OMNdUQtFHs",
        "ecdsa-sha2-nistp384"
            + " AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBCXPmcgaYQWPqCrKdKpmJUcMKLa9NS8ygQSuPomjbmQ2wkur7+EOKv5kF9vXOMe0+2hCCR6OC8cxl2jBJ433L+sOit0oPaMND+H0CfevuWEmM487n8dpRCXfAJxwwot7tg==|SHA256:R9DJNe+sNCTYk50BvyjLIZ+5YlvHT25vhrc1jrocl74",
        "ecdsa-sha2-nistp521"
            + " AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAAeS2wOdj7c2c057D8AqbJiudOGywWzFXyBv2GcA3afZZtS/WypjjWdfMrkPAVkfYqvMgmw3cpaVMHTZcL2Wmr7FQDbhQhy1J8K2iYWLvwfZ1p4ObafnlJdNYTaHSOqrfeXVfs/jHalakZXyySjMpLqmy44iwhabOb57miO0GkQtYS6aA==|SHA256:sUfynQT/SEnFoFueTLOhELh+X0395Dsx5cK8andnXmw",
        "ssh-rsa"
            + " AAAAB3NzaC1yc2EAAAADAQABAAABAQC0lGvTamZa0NNFnzBYJlwA0KnFV6ZuCSLg7KcjXMFtP52OLQfMyCQ+sJuov2xPYPZck5CRCn+Irtvt8YzhnZOaS9560MlH5Gy9FWufRk/Lfbp79dBg/ih/9YdNQ4eZGhF0B5ueRoebuOaW8AzMWmFElZGm4/FKEsaQUvE9Ldt7rb7H5uyZ/Df5dnQEfM6KEj+bu1LSSJeFVXaC2g3sgXJaCZ0kRII2Idj7dvImVDzgj4HY7lgpVMVa2PB8wNXcfEwGJk1lePwSmi1FV1cveLBJHCRlAgOCplf6SlQ0uSsw6R0K32iZgLu6h+nJ+62nXfiPW9Y4bVAQKnUXjJF1qTHt|SHA256:wvXVEg9tykUY5ZyUu7KGri5x8aGjtCztMwt323qFCg4",
      })
  void aKeyOfEachPlainTypeHasTheFingerprintThatSshKeygenShows(String line, String fingerprint) {
    SshPublicKey key = SshPublicKey.parse(line + " ada@example.com");

    assertEquals(fingerprint, key.fingerprint());
    assertEquals("ada@example.com", key.comment());
    assertEquals(line.split(" ", -1)[0], key.type());
    assertEquals(line.split(" ", -1)[1], key.blobBase64());
    assertEquals(line + " ada@example.com", key.line());
  }

  @Test
  void securityKeysOfBothTypesAreAccepted() {
    byte[] point = new byte[65];
    point[0] = 4;
    String ed25519 = line(SK_ED25519, text(SK_ED25519), new byte[32], text("ssh:"));
    String ecdsa = line(SK_ECDSA, text(SK_ECDSA), text("nistp256"), point, text("ssh:"));

    assertEquals(SK_ED25519, SshPublicKey.parse(ed25519).type());
    assertEquals(SK_ECDSA, SshPublicKey.parse(ecdsa).type());
    refuses("application", line(SK_ED25519, text(SK_ED25519), new byte[32], text("")));
    refuses("application", line(SK_ED25519, text(SK_ED25519), new byte[32], text("a\nb")));
    refuses("cut short", line(SK_ED25519, text(SK_ED25519), new byte[32]));
  }

  @Test
  void blankSpaceAroundTheLineAndBetweenItsWordsIsNotKept() {
    SshPublicKey key = SshPublicKey.parse("  " + ED25519.replace(" ", "   ") + "  my  laptop \n");

    assertEquals(ED25519 + " my  laptop", key.line());
    assertEquals(ED25519, SshPublicKey.parse(ED25519 + "\r\n").line());
    assertEquals("", SshPublicKey.parse(ED25519).comment());
  }

  @Test
  void aCommentMayHoldAnyTextAndStaysText() {
    String comment = "$(reboot) `id` '; rm -rf / # \" \\ Ünïcode 🔑";

    assertEquals(comment, SshPublicKey.parse(ED25519 + " " + comment).comment());
  }

  @Test
  void optionsBeforeTheTypeAreRefused() {
    refuses("before its key type", "command=\"id\" " + ED25519);
    refuses("before its key type", "restrict,pty " + ED25519);
    refuses("no-pty", "no-pty " + ED25519);
  }

  @Test
  void aPrivateKeyIsRefusedAsSuchAndNothingOfItIsRepeated() {
    String secret = "MC4CAQAwBQYDK2VwBCIEIA";
    for (String text :
        List.of(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n"
                + secret
                + "\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n" + secret,
            "-----BEGIN RSA PRIVATE KEY----- " + secret,
            "-----BEGIN ENCRYPTED PRIVATE KEY-----" + secret,
            ED25519 + "\n-----BEGIN EC PRIVATE KEY-----\n" + secret,
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU" + secret,
            "PuTTY-User-Key-File-3: ssh-ed25519\n" + secret)) {
      ApiException error = refuses("private key", text);
      assertTrue(error.detail().contains("replace it"), error.detail());
      assertFalse(error.detail().contains(secret), error.detail());
    }
  }

  @Test
  void textThatIsNoKeyIsNotRepeated() {
    ApiException error = refuses("before its key type", "MC4CAQAwBQYDK2VwBCIEIA");
    assertFalse(error.detail().contains("MC4C"), error.detail());
  }

  @Test
  void severalLinesAreRefused() {
    refuses("several lines", ED25519 + "\n" + ED25519);
    refuses("several lines", ED25519 + " a\rb");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7, 9, 27, 0x7f, 0x85, 0x2028, 0x2029})
  void controlCharactersAreRefused(int c) {
    refuses("control character", ED25519 + " a" + (char) c + "b");
  }

  @Test
  void halfASurrogatePairIsRefused() {
    refuses("surrogate", ED25519 + " a" + (char) 0xd83d + "b");
  }

  @Test
  void otherTypesAndCertificatesAreRefusedByName() {
    refuses("ssh-dss", "ssh-dss AAAAB3NzaC1kc3M=");
    refuses("certificate", "ssh-ed25519-cert-v01@openssh.com AAAA");
    refuses("ssh-ed448", "ssh-ed448 AAAA");
    refuses("nothing after its type", "ssh-ed25519");
    refuses("expected", "");
  }

  @Test
  void theInnerTypeMustBeTheOuterType() {
    refuses("inner type", "ssh-rsa " + ED25519.split(" ", -1)[1]);
    refuses("inner type", line("ssh-ed25519", text("ssh-dss"), new byte[32]));
  }

  @Test
  void aBlobCutShortAnywhereIsRefused() {
    byte[] blob = Base64.getDecoder().decode(ED25519.split(" ", -1)[1]);
    for (int length = 0; length < blob.length; length++) {
      String cut = Base64.getEncoder().encodeToString(Arrays.copyOf(blob, length));
      assertThrows(ApiException.class, () -> SshPublicKey.parse("ssh-ed25519 " + cut));
    }
  }

  @Test
  void bytesAfterTheKeyAreRefused() {
    refuses("after its end", line("ssh-ed25519", text("ssh-ed25519"), new byte[32], new byte[0]));
  }

  @ParameterizedTest
  @ValueSource(strings = {"AAAA*AAA", "AAAAC3NzaC1lZDI1NTE5AAAAIA", "AAAB=", "AA-_", "AAAAB"})
  void brokenOrUncanonicalBase64IsRefused(String base64) {
    refuses("base64", "ssh-ed25519 " + base64);
  }

  @Test
  void pointsOfAnotherLengthFormOrCurveAreRefused() {
    byte[] point = new byte[65];
    point[0] = 4;
    byte[] compressed = new byte[33];
    compressed[0] = 2;
    String type = "ecdsa-sha2-nistp256";

    refuses("31 bytes", line("ssh-ed25519", text("ssh-ed25519"), new byte[31]));
    refuses("curve point", line(type, text(type), text("nistp256"), new byte[65]));
    refuses("curve point", line(type, text(type), text("nistp256"), Arrays.copyOf(point, 64)));
    refuses("curve point", line(type, text(type), text("nistp256"), compressed));
    refuses("curve differs", line(type, text(type), text("nistp384"), point));
  }

  @Test
  void rsaKeysHave2048To16384BitsAndPlausibleNumbers() {
    byte[] e = BigInteger.valueOf(65_537).toByteArray();

    refuses("1024 bits", RSA_1024);
    refuses("2047 bits", rsa(e, modulus(2_047)));
    assertEquals("ssh-rsa", SshPublicKey.parse(rsa(e, modulus(2_048))).type());
    assertEquals("ssh-rsa", SshPublicKey.parse(rsa(e, modulus(16_384))).type());
    refuses("16385 bits", rsa(e, modulus(16_385)));
    refuses("exponent", rsa(new byte[] {1}, modulus(2_048)));
    refuses("exponent", rsa(new byte[] {4}, modulus(2_048)));
    refuses("zero", rsa(new byte[] {0}, modulus(2_048)));
    refuses("canonical", rsa(new byte[0], modulus(2_048)));
    refuses("canonical", rsa(new byte[] {0, 3}, modulus(2_048)));
    refuses("canonical", rsa(new byte[] {-1}, modulus(2_048)));
  }

  @Test
  void aLineOfMoreThan4096CharactersIsRefused() {
    refuses("4096 characters", ED25519 + " " + "c".repeat(4_096));
  }

  @Test
  void everyKeySshKeygenMakesHereIsReadAsSshKeygenReadsIt(@TempDir Path dir) throws Exception {
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/ssh-keygen")), "no ssh-keygen");
    for (String type : List.of("ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa")) {
      Path file = dir.resolve(type.replace(" ", ""));
      run("ssh-keygen -q -C comment -t " + type + " -f " + file + " -N", "");
      String line = Files.readString(Path.of(file + ".pub"));
      SshPublicKey key = SshPublicKey.parse(line);
      assertEquals(line.strip(), key.line());
      assertEquals(run("ssh-keygen -lf " + file + ".pub").split(" ", -1)[1], key.fingerprint());
    }
  }

  private static ApiException refuses(String why, String line) {
    ApiException error = assertThrows(ApiException.class, () -> SshPublicKey.parse(line));
    assertEquals(ErrorCode.BAD_REQUEST, error.code());
    assertTrue(error.detail().startsWith("public_key: "), error.detail());
    assertTrue(error.detail().contains(why), error.detail());
    return error;
  }

  private static String rsa(byte[] exponent, byte[] modulus) {
    return line("ssh-rsa", text("ssh-rsa"), exponent, modulus);
  }

  private static byte[] modulus(int bits) {
    return BigInteger.ONE.shiftLeft(bits - 1).setBit(0).toByteArray();
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String line(String type, byte[]... fields) {
    ByteArrayOutputStream blob = new ByteArrayOutputStream();
    for (byte[] field : fields) {
      blob.writeBytes(ByteBuffer.allocate(4).putInt(field.length).array());
      blob.writeBytes(field);
    }
    return type + " " + Base64.getEncoder().encodeToString(blob.toByteArray());
  }

  private static String run(String command, String... last)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
    words.addAll(List.of(last));
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), output);
    assertEquals(0, process.exitValue(), output);
    return output;
  }
}
