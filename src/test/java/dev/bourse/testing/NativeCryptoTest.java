package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Security;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Digests of tests are those of the JDK, which the service computes. */
@Tag("fast")
class NativeCryptoTest {
  @ParameterizedTest
  @ValueSource(strings = {"SHA-256", "MD5"})
  void digestsAreThoseOfTheJdkAlsoAfterACopy(String algorithm) throws Exception {
    MessageDigest digest = MessageDigest.getInstance(algorithm);
    MessageDigest reference = MessageDigest.getInstance(algorithm, Security.getProvider("SUN"));
    byte[] bytes = new byte[100_003];
    new Random(1).nextBytes(bytes);
    for (int from = 0, length = 1; from + length <= bytes.length; from += length, length += 97) {
      digest.update(bytes, from, length);
      reference.update(bytes, from, length);
      MessageDigest copy = (MessageDigest) digest.clone();
      assertArrayEquals(((MessageDigest) reference.clone()).digest(), copy.digest());
    }
    assertArrayEquals(reference.digest(), digest.digest());
  }

  @ParameterizedTest
  @ValueSource(strings = {NativeCrypto.TOKENS, NativeCrypto.CERTIFICATES})
  void signaturesAreThoseOfTheJdk(String algorithm) throws Exception {
    byte[] text = new byte[100_003];
    new Random(1).nextBytes(text);
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    KeyPair generated = generator.generateKeyPair();
    KeyFactory jdk = KeyFactory.getInstance("EC", "SunEC");
    KeyPair ofJdk =
        new KeyPair(
            jdk.generatePublic(new X509EncodedKeySpec(generated.getPublic().getEncoded())),
            jdk.generatePrivate(new PKCS8EncodedKeySpec(generated.getPrivate().getEncoded())));
    for (KeyPair keys : List.of(generated, ofJdk)) {
      Signature signing = Signature.getInstance(algorithm);
      signing.initSign(keys.getPrivate());
      byte[] signed = signed(signing, text);
      Signature reference = Signature.getInstance(algorithm, "SunEC");
      reference.initVerify(ofJdk.getPublic());
      assertTrue(verified(reference, text, signed));
      reference.initSign(ofJdk.getPrivate());
      byte[] expected = signed(reference, text);
      Signature verifying = Signature.getInstance(algorithm);
      verifying.initVerify(keys.getPublic());
      assertTrue(verified(verifying, text, expected));
      text[7]++;
      assertFalse(verified(verifying, text, expected));
    }
  }

  private static byte[] signed(Signature signature, byte[] text) throws SignatureException {
    signature.update(text);
    return signature.sign();
  }

  private static boolean verified(Signature signature, byte[] text, byte[] signed)
      throws SignatureException {
    signature.update(text);
    return signature.verify(signed);
  }

  @Test
  void theNativeLibraryIsInUseWhereItHasCodeForTheMachine() {
    boolean isX64Linux =
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64");
    assertEquals(isX64Linux, Security.getProvider(NativeCrypto.NAME) != null);
  }
}
