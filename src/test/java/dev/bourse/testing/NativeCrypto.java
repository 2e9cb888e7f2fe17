package dev.bourse.testing;

import com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Computes SHA-256 and MD5 digests, generates RSA and EC keys, and signs and verifies with EC keys
 * in native code during tests.
 *
 * <p>The JVM of the tests has no optimizing compiler, and without it the JDK's digests are ten
 * times slower: they took a fifth of all tests' CPU time, and MD5 a sixth of those of S3.
 * Signatures with EC keys, of which each start of a service makes one for each member, took a
 * sixtieth. The service in a process of its own ({@link ChildBourse}) and the shipped jar use the
 * JDK's code. On machines for which the library has no native code, tests do too.
 */
public final class NativeCrypto implements LauncherSessionListener {
  static final String NAME = "BourseTestNativeCrypto";

  /** The signature of members' tokens. */
  static final String TOKENS = "SHA256withECDSAinP1363Format";

  /** The signature of certificates and of TLS. */
  static final String CERTIFICATES = "SHA256withECDSA";

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    AmazonCorrettoCryptoProvider library = AmazonCorrettoCryptoProvider.INSTANCE;
    if (library.getLoadingError() == null) {
      Security.insertProviderAt(new Selection(library), 1);
    }
  }

  /** A few algorithms of the library; all others are the JDK's. */
  private static final class Selection extends Provider {
    private static final long serialVersionUID = 1;

    Selection(Provider library) {
      super(NAME, "1", "digests, keys and signatures for tests");
      putService(new Delegate(this, library.getService("MessageDigest", "SHA-256")));
      putService(new Delegate(this, library.getService("MessageDigest", "MD5")));
      putService(new Delegate(this, library.getService("KeyPairGenerator", "RSA")));
      putService(new Delegate(this, library.getService("KeyPairGenerator", "EC")));
      putService(new Delegate(this, library.getService("Signature", TOKENS)));
      putService(new Delegate(this, library.getService("Signature", CERTIFICATES)));
    }
  }

  /** A service of another provider under this one's name. */
  private static final class Delegate extends Provider.Service {
    private final Provider.Service service;

    Delegate(Provider provider, Provider.Service service) {
      super(
          provider,
          service.getType(),
          service.getAlgorithm(),
          service.getClassName(),
          List.of(),
          Map.of());
      this.service = service;
    }

    @Override
    public Object newInstance(@Nullable Object parameter) throws NoSuchAlgorithmException {
      return service.newInstance(parameter);
    }
  }
}
