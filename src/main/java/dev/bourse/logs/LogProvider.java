package dev.bourse.logs;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/** The SLF4J provider: creates the loggers. */
public final class LogProvider implements SLF4JServiceProvider {
  /** The newest release of SLF4J whose interface is implemented. */
  private static final String API = "2.0.99";

  private final ConcurrentMap<String, Logger> loggers = new ConcurrentHashMap<>();
  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter nothing = new NOPMDCAdapter();

  @Override
  public ILoggerFactory getLoggerFactory() {
    return name -> loggers.computeIfAbsent(name, NamedLogger::new);
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  /**
   * Returns an adapter that does nothing, because MDC follows threads and requests do not; see
   * {@link RequestContext}.
   */
  @Override
  public MDCAdapter getMDCAdapter() {
    return nothing;
  }

  @Override
  public String getRequestedApiVersion() {
    return API;
  }

  @Override
  public void initialize() {
    // Logs configures itself when the first logger is created.
  }
}
