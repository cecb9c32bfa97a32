-- The roles of the database. `docker compose up` runs this before each migration, as the superuser that the image made; running it again
-- does no harm. It also hands over what an older version, or a restored back-up, left with the superuser.
--
--   candor_owner         owns all tables; migrations alone connect as this role
--   candor_application   web, worker and beat: reads and writes rows, and can neither change tables nor switch triggers off,
--                        so that the audit log cannot be rewritten by whoever breaks into them (`manage.py grant_to_application`)

\set ON_ERROR_STOP on
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv application_password POSTGRES_APPLICATION_PASSWORD

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'candor_owner') THEN
        CREATE ROLE candor_owner;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'candor_application') THEN
        CREATE ROLE candor_application;
    END IF;
END
$$;

ALTER ROLE candor_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE candor_application LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'application_password';
-- The owner may give tables to the application, and change them later; never the other way round.
GRANT candor_application TO candor_owner;
REVOKE candor_owner FROM candor_application;

SELECT current_database() AS here \gset
ALTER DATABASE :"here" OWNER TO candor_owner;
REVOKE ALL ON DATABASE :"here" FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE :"here" TO candor_owner, candor_application;
ALTER SCHEMA public OWNER TO candor_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO candor_owner;

DO $$
DECLARE
    found record;
BEGIN
    -- Sequences of columns follow their tables.
    FOR found IN
        SELECT c.oid::regclass AS name, c.relkind AS kind
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
          AND c.relowner NOT IN ('candor_owner'::regrole, 'candor_application'::regrole)
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
                          AND c.relkind = 'S')
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO candor_owner', found.name);
    END LOOP;
    FOR found IN
        SELECT p.oid::regprocedure AS name
        FROM pg_proc p
        JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'public' AND p.proowner <> 'candor_owner'::regrole
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO candor_owner', found.name);
    END LOOP;
END
$$;
