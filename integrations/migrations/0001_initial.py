import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='ErasedAccount',
            fields=[
                ('user_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('external_id', models.CharField(blank=True, max_length=128, null=True)),
                ('erased_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name': 'erased account',
            },
        ),
        migrations.CreateModel(
            name='EventLog',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('last_number', models.BigIntegerField(default=0)),
                ('expired_number', models.BigIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'event log',
            },
        ),
        migrations.CreateModel(
            name='WebhookTarget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True, verbose_name='name')),
                ('switched_off_at', models.DateTimeField(blank=True, null=True, verbose_name='switched off at')),
                ('reason', models.CharField(blank=True, max_length=300, verbose_name='reason')),
            ],
            options={
                'verbose_name': 'webhook target',
                'verbose_name_plural': 'webhook targets',
                'permissions': [('enable_webhook', 'Can switch webhook targets on')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField(blank=True, null=True, verbose_name='number')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('type', models.CharField(max_length=40, verbose_name='type')),
                ('data', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='happened at')),
            ],
            options={
                'verbose_name': 'event',
                'verbose_name_plural': 'events',
                'indexes': [models.Index(condition=models.Q(('number', None)), fields=['id'], name='event_unnumbered')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('number__isnull', False)), fields=('number',), name='event_number')],
            },
        ),
        migrations.CreateModel(
            name='ServerKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('prefix', models.CharField(max_length=8, verbose_name='beginning')),
                ('digest', models.CharField(max_length=64)),
                ('scopes', models.JSONField(default=list, verbose_name='scopes')),
                ('networks', models.JSONField(blank=True, default=list, verbose_name='networks')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('last_used_at', models.DateTimeField(blank=True, null=True, verbose_name='last used at')),
                ('revoked_at', models.DateTimeField(blank=True, null=True, verbose_name='revoked at')),
            ],
            options={
                'verbose_name': 'server key',
                'verbose_name_plural': 'server keys',
                'permissions': [('revoke_serverkey', 'Can revoke server keys')],
                'constraints': [models.UniqueConstraint(fields=('digest',), name='serverkey_digest'), models.UniqueConstraint(fields=('prefix',), name='serverkey_prefix')],
            },
        ),
    ]
