package dev.bourse.edge.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Authority;
import dev.bourse.testing.Certificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Accepted pairs of files, and the errors of rejected ones. */
class TlsConfigTest {
  private final Path folder;
  private final Certificates.Pem ec;
  private final Path certificate;
  private final Path key;

  TlsConfigTest(@TempDir Path folder) throws IOException {
    this.folder = folder;
    ec = Certificates.make("EC", 30);
    ec.write(folder);
    certificate = Certificates.certificateFile(folder);
    key = Certificates.keyFile(folder);
  }

  private void assertRefused(String start, String part) {
    List<String> faults = TlsFixture.faults(certificate.toString(), key.toString());
    assertEquals(1, faults.size(), faults.toString());
    assertTrue(faults.get(0).startsWith(start), faults.get(0));
    assertTrue(faults.get(0).contains(part), faults.get(0));
    assertFalse(faults.get(0).contains("Exception"), faults.get(0));
  }

  @Test
  void bothOrNeitherAreSet() {
    assertTrue(TlsConfig.from(TlsFixture.settings("", "")).isEmpty());
    assertTrue(
        TlsFixture.faults(certificate.toString(), "").get(0).startsWith("tls.key: '' is not"));
    assertTrue(TlsFixture.faults("", key.toString()).get(0).startsWith("tls.cert: '' is not"));
  }

  @Test
  void aKeyIsTakenInTheOlderFormOfEachAlgorithmToo() throws IOException {
    assertEquals("EC", TlsFixture.config(certificate, key).pair().key().getAlgorithm());
    for (Certificates.Pem pem : List.of(ec, Certificates.make("RSA", 30))) {
      pem.write(folder);
      Key usual = TlsFixture.config(certificate, key).pair().key();
      String kind = usual.getAlgorithm();
      Files.writeString(key, Certificates.pem(kind + " PRIVATE KEY", inner(usual.getEncoded())));
      Key older = TlsFixture.config(certificate, key).pair().key();
      assertEquals(usual, older);
    }
  }

  /** What PKCS #8 wraps: the content of its last element. */
  private static byte[] inner(byte[] wrapped) {
    // SEQUENCE { INTEGER 0, SEQUENCE { algorithm }, OCTET STRING }
    int at = header(wrapped, 0) + 3;
    at += header(wrapped, at) + (wrapped[at + 1] & 0xff);
    return Arrays.copyOfRange(wrapped, at + header(wrapped, at), wrapped.length);
  }

  private static int header(byte[] encoded, int at) {
    int length = encoded[at + 1] & 0xff;
    return length < 0x80 ? 2 : 2 + (length & 0x7f);
  }

  @Test
  void aFileThatIsNotThereIsNamed() throws IOException {
    Files.delete(key);
    assertRefused("tls.key: '" + key + "'", "there is none");
    Files.delete(certificate);
    assertRefused("tls.cert: '" + certificate + "'", "there is none");
  }

  @Test
  void aFolderInAFilesPlaceIsNamed() throws IOException {
    Files.delete(certificate);
    Files.createDirectory(certificate);
    assertRefused("tls.cert: '" + certificate + "'", "a PEM file");
  }

  @Test
  void aFileWithoutACertificateIsNamed() throws IOException {
    Files.writeString(certificate, "nothing\n");
    assertRefused("tls.cert: '" + certificate + "'", "there are 0");
    Files.writeString(certificate, ec.text() + Certificates.pem("CERTIFICATE", new byte[99]));
    assertRefused("tls.cert: '" + certificate + "'", "number 2 cannot be read");
  }

  @Test
  void aFileThatIsFarTooLongIsNamed() throws IOException {
    Files.writeString(certificate, ec.text() + "\n".repeat(300_000));
    assertRefused("tls.cert: '" + certificate + "'", "at most 262144 bytes");
  }

  @Test
  void aFileWithoutAKeyOrWithOneUnderAPassphraseIsNamed() throws IOException {
    Files.writeString(key, ec.text());
    assertRefused("tls.key: '" + key + "'", "without passphrase");
    Files.writeString(key, Certificates.pem("ENCRYPTED PRIVATE KEY", new byte[99]));
    assertRefused("tls.key: '" + key + "'", "without passphrase");
    Files.writeString(key, Certificates.pem("PRIVATE KEY", new byte[99]));
    assertRefused("tls.key: '" + key + "'", "cannot be read");
    Files.writeString(key, Certificates.pem("EC PRIVATE KEY", new byte[99]));
    assertRefused("tls.key: '" + key + "'", "cannot be read");
  }

  @Test
  void aKeyOfAnotherCertificateIsNamed() throws IOException {
    Files.writeString(key, Certificates.make("EC", 30).key());
    assertRefused("tls.key: '" + key + "'", "the private key of the certificate in " + certificate);
    Files.writeString(key, Certificates.make("RSA", 30).key());
    assertRefused("tls.key: '" + key + "'", "is not EC");
  }

  @Test
  void aChainThatDoesNotLeadFromOneToTheNextIsNamed() throws IOException {
    Files.writeString(certificate, ec.text() + Certificates.make("RSA", 30).text());
    // All of them are named localhost here, so these two match.
    assertEquals(2, TlsFixture.config(certificate, key).pair().chain().size());
    Files.writeString(certificate, ec.text().repeat(17));
    assertRefused("tls.cert: '" + certificate + "'", "there are 17");
  }

  private List<String> clientFaults(String authorities, String demand) {
    return TlsFixture.faults(
        Map.of(
            "tls.cert",
            certificate.toString(),
            "tls.key",
            key.toString(),
            "tls.client.ca",
            authorities,
            "tls.client.auth",
            demand));
  }

  @Test
  void authoritiesOfClientsAreTakenOfAFileThatHoldsNothingElse() throws IOException {
    Authority authority = new Authority("ours");
    Path file = Authority.file(folder);
    authority.write(folder, "");
    for (String demand : List.of("agents", "all")) {
      assertEquals(List.of(), clientFaults(file.toString(), demand));
    }
    Files.writeString(file, authority.pem().text() + authority.issue("agent").text());
    assertNamed(clientFaults(file.toString(), "agents"), "number 2, CN=agent, is of none");
    Files.writeString(file, authority.pem().text().substring(0, 300));
    assertNamed(clientFaults(file.toString(), "agents"), "there are 0");
    Files.writeString(file, authority.pem().text().repeat(65));
    assertNamed(clientFaults(file.toString(), "agents"), "there are 65");
    Files.delete(file);
    assertNamed(clientFaults(file.toString(), "agents"), "there is none");
  }

  private static void assertNamed(List<String> faults, String part) {
    assertEquals(1, faults.size(), faults.toString());
    assertTrue(faults.get(0).startsWith("tls.client.ca: '"), faults.get(0));
    assertTrue(faults.get(0).contains(part), faults.get(0));
  }

  @Test
  void certificatesOfClientsAreAskedForOverTlsAlone() {
    assertNamed(clientFaults("", "all"), "a PEM file, because tls.client.auth is all");
    List<String> wrong = clientFaults("", "some");
    assertTrue(wrong.get(0).startsWith("tls.client.auth: 'some' is not"), wrong.toString());
    List<String> plain = TlsFixture.faults(Map.of("tls.client.ca", certificate.toString()));
    assertTrue(plain.get(0).startsWith("tls.cert: '' is not"), plain.toString());
  }

  @Test
  void aCertificateOfAnotherAlgorithmIsNamed() throws IOException {
    Certificates.make("Ed25519", 30).write(folder);
    assertRefused("tls.cert: '" + certificate + "'", "an RSA or EC key");
  }
}
