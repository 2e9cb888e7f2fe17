package dev.bourse.remote;

import dev.bourse.pem.CertificatePair;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyManagementException;
import java.security.SecureRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The JVM's default TLS, with an optional client certificate, initialized at the first TLS
 * connection. An HttpClient would initialize it when it is built, which reads all trusted
 * certificates: a third of the time of a command that speaks plain HTTP to this machine.
 */
final class TlsOnDemand extends SSLContextSpi {
  private final @Nullable CertificatePair shown;
  private @Nullable SSLContext made;

  private TlsOnDemand(@Nullable CertificatePair shown) {
    this.shown = shown;
  }

  /**
   * @param shown the client certificate, sent to servers that request one; null for none
   */
  static SSLContext context(@Nullable CertificatePair shown) {
    return new SSLContext(new TlsOnDemand(shown), null, "TLS") {};
  }

  private synchronized SSLContext made() {
    SSLContext context = made;
    if (context == null) {
      context = make();
      made = context;
    }
    return context;
  }

  private SSLContext make() {
    try {
      if (shown == null) {
        return SSLContext.getDefault();
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {shown.keyManager()}, null, null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("this JVM has no TLS: " + e.getMessage(), e);
    }
  }

  @Override
  protected void engineInit(
      KeyManager @Nullable [] keys, TrustManager @Nullable [] trust, @Nullable SecureRandom random)
      throws KeyManagementException {
    throw new KeyManagementException("the JVM's default context cannot be initialized again");
  }

  @Override
  protected SSLSocketFactory engineGetSocketFactory() {
    return made().getSocketFactory();
  }

  @Override
  protected SSLServerSocketFactory engineGetServerSocketFactory() {
    return made().getServerSocketFactory();
  }

  @Override
  protected SSLEngine engineCreateSSLEngine() {
    return made().createSSLEngine();
  }

  @Override
  protected SSLEngine engineCreateSSLEngine(String host, int port) {
    return made().createSSLEngine(host, port);
  }

  @Override
  protected SSLSessionContext engineGetServerSessionContext() {
    return made().getServerSessionContext();
  }

  @Override
  protected SSLSessionContext engineGetClientSessionContext() {
    return made().getClientSessionContext();
  }

  /** Returns empty parameters, so each engine keeps the JVM's defaults. */
  @Override
  protected SSLParameters engineGetDefaultSSLParameters() {
    return new SSLParameters();
  }
}
