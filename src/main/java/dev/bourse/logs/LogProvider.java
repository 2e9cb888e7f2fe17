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

/** What SLF4J finds on the class path: it makes the loggers. */
public final class LogProvider implements SLF4JServiceProvider {
  /** The newest release of SLF4J whose interface this was written for. */
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

  /** Goes by threads, which requests do not; see {@link RequestContext}. */
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
    // All there is to set up is set up by Logs, when the first logger is made.
  }
}
