package dev.bourse.nodes;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Security;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.EdECPublicKey;
import java.security.spec.KeySpec;
import java.security.spec.NamedParameterSpec;
import java.util.Optional;
import org.apache.sshd.common.config.keys.PrivateKeyEntryDecoder;
import org.apache.sshd.common.config.keys.PublicKeyEntryDecoder;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.security.AbstractSecurityProviderRegistrar;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.common.util.security.eddsa.generic.EdDSASupport;
import org.apache.sshd.common.util.security.eddsa.generic.EdDSAUtils;
import org.apache.sshd.common.util.security.eddsa.generic.GenericEd25519PublicKeyDecoder;
import org.apache.sshd.common.util.security.eddsa.generic.GenericOpenSSHEd25519PrivateKeyEntryDecoder;
import org.apache.sshd.common.util.security.eddsa.generic.GenericSignatureEd25519;

/**
 * Binds the SSH library to the JDK's Ed25519 (JEP 339). The library has bindings to two third-party
 * providers only, and disables the algorithm silently if neither is present.
 */
final class JdkEd25519 implements EdDSASupport<EdECPublicKey, EdECPrivateKey> {
  /** The JDK's provider of elliptic-curve algorithms. */
  private static final String PROVIDER = "SunEC";

  private static final String ALGORITHM = "Ed25519";

  private JdkEd25519() {}

  /** Makes the SSH library of this process use the JDK's Ed25519. Idempotent. */
  static void register() {
    SecurityUtils.registerSecurityProvider(new Registrar());
  }

  private static final class Registrar extends AbstractSecurityProviderRegistrar {
    private final EdDSASupport<EdECPublicKey, EdECPrivateKey> support = new JdkEd25519();

    Registrar() {
      super(PROVIDER);
    }

    @Override
    public boolean isSupported() {
      return Security.getProvider(PROVIDER) != null;
    }

    @Override
    public Provider getSecurityProvider() {
      return Security.getProvider(PROVIDER);
    }

    @Override
    public Optional<EdDSASupport<?, ?>> getEdDSASupport() {
      return Optional.of(support);
    }
  }

  @Override
  public PublicKeyEntryDecoder<EdECPublicKey, EdECPrivateKey> getEDDSAPublicKeyEntryDecoder() {
    return new GenericEd25519PublicKeyDecoder<>(EdECPublicKey.class, EdECPrivateKey.class, this);
  }

  @Override
  public PrivateKeyEntryDecoder<EdECPublicKey, EdECPrivateKey>
      getOpenSSHEDDSAPrivateKeyEntryDecoder() {
    return new GenericOpenSSHEd25519PrivateKeyEntryDecoder<>(
        EdECPublicKey.class, EdECPrivateKey.class, this);
  }

  @Override
  public Signature getEDDSASigner() {
    return new GenericSignatureEd25519(ALGORITHM);
  }

  @Override
  public int getEDDSAKeySize(Key key) {
    return key instanceof EdECPublicKey || key instanceof EdECPrivateKey ? KEY_SIZE : -1;
  }

  @Override
  public Class<EdECPublicKey> getEDDSAPublicKeyType() {
    return EdECPublicKey.class;
  }

  @Override
  public Class<EdECPrivateKey> getEDDSAPrivateKeyType() {
    return EdECPrivateKey.class;
  }

  @Override
  public boolean compareEDDSAPPublicKeys(PublicKey one, PublicKey other) {
    return one instanceof EdECPublicKey && one.equals(other);
  }

  @Override
  public boolean compareEDDSAPrivateKeys(PrivateKey one, PrivateKey other) {
    return one instanceof EdECPrivateKey && one.equals(other);
  }

  /**
   * Derives the public key. The JDK has no such call, but its key generator reads exactly the seed
   * from its random source, and a private key is that seed.
   */
  @Override
  public EdECPublicKey recoverEDDSAPublicKey(PrivateKey key) throws GeneralSecurityException {
    byte[] seed = EdDSAUtils.getBytes(key);
    KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
    generator.initialize(
        NamedParameterSpec.ED25519,
        new SecureRandom() {
          @Override
          public void nextBytes(byte[] bytes) {
            System.arraycopy(seed, 0, bytes, 0, bytes.length);
          }
        });
    return (EdECPublicKey) generator.generateKeyPair().getPublic();
  }

  @Override
  public EdECPublicKey generateEDDSAPublicKey(byte[] point) throws GeneralSecurityException {
    return (EdECPublicKey)
        KeyFactory.getInstance(ALGORITHM).generatePublic(EdDSAUtils.createPublicKeySpec(point));
  }

  @Override
  public EdECPrivateKey generateEDDSAPrivateKey(byte[] seed)
      throws GeneralSecurityException, IOException {
    return (EdECPrivateKey)
        KeyFactory.getInstance(ALGORITHM).generatePrivate(EdDSAUtils.createPrivateKeySpec(seed));
  }

  @Override
  public <B extends Buffer> B putRawEDDSAPublicKey(B buffer, PublicKey key) {
    buffer.putBytes(bytes(key));
    return buffer;
  }

  /** Not supported: only an SSH agent that hands out keys needs it. */
  @Override
  public <B extends Buffer> B putEDDSAKeyPair(B buffer, PublicKey pub, PrivateKey prv) {
    throw new UnsupportedOperationException("private keys are not handed out");
  }

  @Override
  public KeySpec createPublicKeySpec(EdECPublicKey key) {
    try {
      return EdDSAUtils.createPublicKeySpec(bytes(key));
    } catch (InvalidKeyException e) {
      throw new IllegalArgumentException("not an Ed25519 public key", e);
    }
  }

  @Override
  public KeySpec createPrivateKeySpec(EdECPrivateKey key) {
    try {
      return EdDSAUtils.createPrivateKeySpec(EdDSAUtils.getBytes(key));
    } catch (InvalidKeyException e) {
      throw new IllegalArgumentException("not an Ed25519 private key", e);
    }
  }

  @Override
  public byte[] getPublicKeyData(EdECPublicKey key) {
    return bytes(key);
  }

  @Override
  public byte[] getPrivateKeyData(EdECPrivateKey key) throws IOException {
    try {
      return EdDSAUtils.getBytes(key);
    } catch (InvalidKeyException e) {
      throw new IOException("not an Ed25519 private key", e);
    }
  }

  @Override
  public String getKeyFactoryAlgorithm() {
    return ALGORITHM;
  }

  private static byte[] bytes(PublicKey key) {
    try {
      return EdDSAUtils.getBytes(key);
    } catch (InvalidKeyException e) {
      throw new IllegalArgumentException("not an Ed25519 public key", e);
    }
  }
}
