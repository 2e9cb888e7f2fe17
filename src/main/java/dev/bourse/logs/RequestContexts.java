package dev.bourse.logs;

import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;

/**
 * Reserves a slot for {@link RequestContext} in the contexts of every Vert.x; a slot must be
 * registered before the first Vert.x is created. Vert.x finds this provider on the class path.
 */
public final class RequestContexts implements VertxServiceProvider {
  @Override
  public void init(VertxBootstrap starting) {
    RequestContext.register();
  }
}
