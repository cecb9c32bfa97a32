# PgBouncer of Debian 13, which knows prepared statements (1.21 and newer do). The rules are mounted: deployment/pgbouncer.ini, databases.ini.
FROM debian:13.1-slim
RUN apt-get update && apt-get install --yes --no-install-recommends pgbouncer && rm --recursive /var/lib/apt/lists/*
# As the images of PostgreSQL and Redis: nobody's root, who may read the certificate's key.
USER 999:999
EXPOSE 6432
CMD ["pgbouncer", "/etc/pgbouncer/pgbouncer.ini"]
