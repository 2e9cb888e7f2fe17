package dev.bourse.logs;

import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;

/**
 * Has every Vert.x keep a place for a {@link RequestContext} in its contexts, which has to be asked
 * for before the first of them is made. Vert.x finds it on the class path.
 */
public final class RequestContexts implements VertxServiceProvider {
  @Override
  public void init(VertxBootstrap starting) {
    RequestContext.register();
  }
}
